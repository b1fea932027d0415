import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { AgentOutput } from '../../src/activities/agent-output.ts';
import { untilStoreIsBack } from '../../src/activities/until-written.ts';
import type { Db } from '../../src/store/pool.ts';
import { rememberStoreError } from '../../src/store/store-error.ts';

const runFile = promisify(execFile);
const same = (text: string): string => text;

test('output is read again when the store was away while it was saved', async () => {
  using output = new AgentOutput([]);
  output.onOutput(Buffer.from('first line\n'));
  output.onErrorOutput(Buffer.from('second line\n'));
  let statements = 0;
  const written: unknown[] = [];
  const query = async (config: { readonly name?: string; readonly values?: unknown[] }) => {
    statements += 1;
    // Away once where it is asked, and once in the middle of a write.
    if (statements === 1 || statements === 3) rememberStoreError(new Error('the connection ended'));
    if (config.name === 'save-chunk') written.push(config.values?.[3]);
    return { rows: [] };
  };
  const db = { query } as unknown as Db;
  const saved = await untilStoreIsBack(() => output.save(db, same), new AbortController().signal);
  expect(saved).toMatchObject({ outputBytes: 23, cutBytes: 0 });
  expect(written.map(String)).toEqual(['first line\nsecond line\n']);
});

/** Prints 400 KB into an output that may take 100 KiB of the disk, as one that is full. */
const FULL_DISK = `
  import { AgentOutput } from '${new URL('../../src/activities/agent-output.ts', import.meta.url).href}';
  using output = new AgentOutput([]);
  for (let line = 1; line <= 4_000; line += 1) output.onOutput(Buffer.from(String(line).padEnd(99) + '\\n'));
  const pieces = [];
  const query = async ({ name, values }) => {
    if (name === 'save-chunk') pieces.push(String(values[3]));
    return { rows: [] };
  };
  const saved = await output.save({ query }, (text) => text);
  console.log(JSON.stringify({ ...saved, text: pieces.join('') }));
`;

test('a disk without room for the output costs its middle, and not the worker', async () => {
  const command = `ulimit -f $((100 * 1024 / 512)); exec "$0" --input-type=module -e "$1"`;
  const { stdout } = await runFile('sh', ['-c', command, process.execPath, FULL_DISK]);
  const { text, ...saved } = JSON.parse(stdout) as { readonly text: string };
  expect(saved).toMatchObject({ outputBytes: 400_000, cutBytes: 400_000 - 100 * 1024 });
  expect(text).toMatch(/^1 +\n2 /);
  expect(text).toMatch(/bytes were not kept; the end: .*\n[^]*4000 +\n$/);
});
