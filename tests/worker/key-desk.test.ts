import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { findFolderFault, toKeySocketPath } from '../../src/client/key-place.ts';
import { offerKeys } from '../../src/client/key-socket.ts';
import { openKeyDesk } from '../../src/worker/key-desk.ts';
import { KnownSecrets } from '../../src/worker/known-secrets.ts';

const KEY = 'a-key-that-nobody-may-see-1';
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function openDesk(depth = 0) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-keys-')));
  const dataDir = join(folder, ...Array.from({ length: depth }, () => 'a-long-name-of-a-folder'), '.assay');
  mkdirSync(dataDir, { recursive: true });
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const secrets = new KnownSecrets((name) => (name === 'OWN' ? 'a-value-of-the-worker' : null));
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const changes: string[] = [];
  const open = async () => {
    const close = await openKeyDesk({
      dataDir,
      secrets,
      logger,
      onKeys: async () => void changes.push('keys'),
    });
    ends.push(close);
    return close;
  };
  const path = toKeySocketPath(dataDir);
  if (depth > 0) ends.push(() => rmSync(dirname(path), { recursive: true, force: true }));
  return { dataDir, path, secrets, lines, changes, open };
}

test.each([
  ['a usual folder', 0],
  ['a path that is too long for a socket', 8],
])(
  'a key that is handed over is there at once, known to the redactor and in no log: %s',
  async (_, depth) => {
    const desk = await openDesk(depth);
    await desk.open();
    expect(await offerKeys(desk.dataDir, { keys: {}, ask: ['A_KEY', 'OWN'] })).toEqual({
      missing: ['A_KEY'],
    });
    expect(desk.changes).toEqual([]);
    const answer = await offerKeys(desk.dataDir, { keys: { A_KEY: KEY }, ask: ['A_KEY', 'OWN'] });
    expect(answer).toEqual({ missing: [] });
    expect(desk.changes).toEqual(['keys']);
    expect(desk.secrets.read('A_KEY')).toBe(KEY);
    expect(desk.secrets.redact(`say ${KEY}`)).toBe('say [redacted]');
    expect(desk.lines.join('')).not.toContain(KEY);
    expect(statSync(desk.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(desk.path)).mode & 0o777).toBe(0o700);
  },
);

test('the newest value counts, and a former one stays hidden', async () => {
  const desk = await openDesk();
  await desk.open();
  await offerKeys(desk.dataDir, { keys: { OWN: KEY }, ask: [] });
  await offerKeys(desk.dataDir, { keys: { OWN: 'another-key-22' }, ask: [] });
  expect(desk.secrets.read('OWN')).toBe('another-key-22');
  expect(desk.secrets.redact(KEY)).toBe('[redacted]');
});

test('a socket that a killed worker left is replaced, and a closed desk leaves none', async () => {
  const desk = await openDesk();
  await desk.open();
  const close = await desk.open();
  expect(await offerKeys(desk.dataDir, { keys: {}, ask: ['A_KEY'] })).toEqual({ missing: ['A_KEY'] });
  await close();
  expect(existsSync(desk.path)).toBe(false);
  expect(await offerKeys(desk.dataDir, { keys: { A_KEY: KEY }, ask: [] })).toBeNull();
});

test('a folder that others may enter gets no key, on neither side', async () => {
  const desk = await openDesk();
  await desk.open();
  chmodSync(dirname(desk.path), 0o755);
  expect(findFolderFault(desk.path)).toContain('open to other users');
  expect(await offerKeys(desk.dataDir, { keys: { A_KEY: KEY }, ask: [] })).toBeNull();
  await desk.open();
  expect(desk.lines.join('')).toContain('commands cannot hand keys to this worker');
  expect(desk.secrets.read('A_KEY')).toBeNull();
});

test('what is no offer is refused without being quoted', async () => {
  const desk = await openDesk();
  await desk.open();
  const socket = connect(desk.path);
  socket.end(`{"keys": "${KEY}"`);
  expect(await text(socket)).toBe('');
  expect(desk.lines.join('')).toContain('something else than keys');
  expect(desk.lines.join('')).not.toContain(KEY);
});
