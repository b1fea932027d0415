import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TerminalScreen } from './terminal-screen.ts';

const PROGRAM = fileURLToPath(new URL('programs/show-display.ts', import.meta.url));
/** `script` of util-linux gives a process a terminal; `stty` of coreutils changes the size of one. */
const hasTerminals = spawnSync('script', ['--version']).status === 0 && process.platform === 'linux';

type Size = readonly [width: number, height: number];

/** Shows a run on a real terminal, whose size is changed in the middle when another one is given. */
async function showOnTerminal(options: {
  readonly models: number;
  readonly size: Size;
  readonly laterSize?: Size;
  readonly flags?: string;
  readonly variables?: { readonly [name: string]: string };
}) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-terminal-'));
  const [width, height] = options.size;
  const command = [
    `tty > ${folder}/tty`,
    `stty rows ${height} cols ${width} -echo`,
    `exec ${process.execPath} ${PROGRAM} ${options.models} ${options.flags ?? ''}`,
  ].join('; ');
  const { NO_COLOR: _, CI: __, ...kept } = process.env;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...kept, TERM: 'xterm-256color', ...options.variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const screen = new TerminalScreen(width, height);
  const [before, after]: [string[][], string[][]] = [[], []];
  let [text, lastMs] = ['', performance.now()];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    lastMs = performance.now();
    // Between the change of the size and the signal of it a frame may still be drawn for the old one.
    screen.write(part, () => {
      if (screen.cleared > 0) after.push([...screen.lines]);
      else if (screen.width === width) before.push([...screen.lines]);
    });
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (options.laterSize !== undefined) {
    // Half way the program says nothing new until it is told to go on.
    const isHalfWay = (): boolean => /\b5\/10\b/.test(text) && performance.now() - lastMs > 400;
    for (let look = 0; look < 400 && !isHalfWay(); look += 1) await sleep(25);
    const [nextWidth, nextHeight] = options.laterSize;
    screen.resize(nextWidth, nextHeight);
    const terminal = readFileSync(join(folder, 'tty'), 'utf8').trim();
    execFileSync('stty', ['-F', terminal, 'rows', String(nextHeight), 'cols', String(nextWidth)]);
    await sleep(300);
  }
  child.stdin.write('go on\n');
  await ended;
  rmSync(folder, { recursive: true });
  return { screen, text, before, after };
}

/** Lines from the first to the last that is not blank, of frames in which the run goes on. */
const heightsOf = (frames: readonly (readonly string[])[]): ReadonlySet<number> =>
  new Set(
    frames
      .filter((lines) => lines.some((line) => / running( |$)/.test(line)))
      .map((lines) => lines.findLastIndex((line) => line !== '') + 1),
  );

describe.concurrent('on a real terminal', () => {
  test.skipIf(!hasTerminals)(
    'on a terminal of 80x24 that becomes one of 40x10 the display keeps its height, wraps nothing and leaves nothing behind (needs script and stty)',
    { timeout: 30_000 },
    async () => {
      const shown = await showOnTerminal({ models: 9, size: [80, 24], laterSize: [40, 10] });
      expect(heightsOf(shown.before)).toEqual(new Set([3 + 9 + 1]));
      expect(heightsOf(shown.after)).toEqual(new Set([9]));
      expect(shown.screen).toMatchObject({ wrapped: false, scrolled: 0 });
      const last = shown.screen.lines;
      expect(last.filter((line) => line.includes('request / model'))).toHaveLength(1);
      expect(last.join('\n')).toContain('completed');
      expect(last.join('\n')).toMatch(/and \d more/);
      expect(shown.screen.painted).toBeGreaterThan(0);
    },
  );

  test.skipIf(!hasTerminals)(
    'on a terminal of 40x10 that becomes one of 80x24 there is room for every model (needs script and stty)',
    { timeout: 30_000 },
    async () => {
      const shown = await showOnTerminal({
        models: 9,
        size: [40, 10],
        laterSize: [80, 24],
        flags: '--no-color',
      });
      expect(heightsOf(shown.before)).toEqual(new Set([9]));
      expect(heightsOf(shown.after)).toEqual(new Set([13]));
      expect(shown.screen).toMatchObject({ wrapped: false, scrolled: 0, painted: 0 });
      expect(shown.screen.lines.join('\n')).not.toContain('more');
    },
  );

  test.skipIf(!hasTerminals).each([
    ['NO_COLOR', { NO_COLOR: '1' }, true],
    ['TERM=dumb', { TERM: 'dumb' }, false],
    ['CI', { CI: 'true' }, false],
  ])(
    'a terminal with %s has no colour, and moves its cursor only where it can (needs script and stty)',
    { timeout: 30_000 },
    async (_, variables, live) => {
      const shown = await showOnTerminal({ models: 2, size: [80, 24], variables });
      expect(shown.screen.painted).toBe(0);
      expect(shown.text.includes('\u001B')).toBe(live);
      expect(shown.text).toContain('completed');
    },
  );
});
