import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { isRunning } from '../environments/test-session.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCells, script, sums, waitFor } from './support.ts';

const PROGRAM = fileURLToPath(new URL('../tools/programs/mcp-server.ts', import.meta.url));

let assay: TestAssay;
const folder = mkdtempSync(join(tmpdir(), 'assay-mcp-'));
beforeAll(async () => {
  process.env['SHOP_KEY'] = 'open sesame';
  process.env['A_SECRET'] = 'of the worker';
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  delete process.env['SHOP_KEY'];
  delete process.env['A_SECRET'];
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
const nextFile = (): string => join(folder, `file-${(files += 1)}`);

const stdio = (marks: string, more: object = {}): Json =>
  ({
    name: 'shop',
    command: process.execPath,
    args: [PROGRAM, 'stdio'],
    variables: { MARKS: marks },
    ...more,
  }) as Json;

async function startHttp(marks: string): Promise<string> {
  const portFile = nextFile();
  const child = spawn(process.execPath, [PROGRAM, 'http', portFile], {
    env: { MARKS: marks },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await waitFor('the port', async () => existsSync(portFile));
  return `http://127.0.0.1:${readFileSync(portFile, 'utf8')}/mcp`;
}

const call = (name: string, args: { readonly [key: string]: Json } = {}) => ({
  tools: [{ name, arguments: args }],
});

async function run(server: Json, steps: readonly Json[], more: { readonly [key: string]: Json } = {}) {
  const runId = await begin(assay, {
    models: [script([...steps, { say: '1' }])],
    suite: sums(1),
    harness: { kind: 'agent', tools: [], maxSteps: 20, mcp: [server] },
    environment: 'host',
    ...more,
  });
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  const { rows } = await assay.db.query<{ text: string }>(
    `select convert_from(b.bytes, 'UTF8') as text from steps s join blobs b on b.digest = s.digest and b.chunk = 0
     where s.run_id = $1 and s.role = 'tool' order by s.try_number, s.sequence`,
    [runId],
  );
  const seen = rows.map((row) => JSON.parse(row.text) as { text: string; status: string });
  return { runId, cell, seen: seen.map(({ status, text }) => `${status}: ${text}`) };
}

const readMarks = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];

test('a stdio server of the official SDK: tools with their prefix, results as text, one process a session, ended with it', async () => {
  const marks = nextFile();
  const { runId, cell, seen } = await run(stdio(marks), [
    call('shop__add', { a: 1, b: 2 }),
    call('shop__count'),
    call('shop__count'),
    call('shop__order_lookup'),
    call('shop__picture'),
    call('shop__fail'),
    call('shop__pay'),
    call('shop__add', { a: 'one' }),
    call('shop__nothing'),
  ]);
  expect(cell).toMatchObject({ outcome: 'scored' });
  expect(seen).toEqual([
    'success: 3',
    expect.stringMatching(new RegExp(`^success: count 1 in ${assay.dataDir}/sessions/.*`)),
    expect.stringMatching(/^success: count 2/),
    'success: {"id":7,"paid":true}',
    'success: [image: image/png, 5 bytes; not shown]',
    'error: no such order',
    // Nothing of the worker's variables reaches it.
    'success: key none',
    expect.stringMatching(/^error: .*a/s),
    expect.stringMatching(/^error: There is no tool "shop__nothing"\. Tools: shop__add, shop__count/),
  ]);
  const [started, paid, ...rest] = readMarks(marks);
  expect(rest).toEqual([]);
  expect(paid).toBe(`paid ${runId}/1/a1/g1/t1/s7/c1`);
  expect(await isRunning(Number(started?.split(' ')[1]))).toBe(false);
  expect(existsSync(join(assay.dataDir, 'mcp'))).toBe(true);
});

test('streamable HTTP with a header from a variable, also without an environment; the session is closed', async () => {
  const marks = nextFile();
  const url = await startHttp(marks);
  const server = { name: 'shop', url, headersEnv: { 'x-key': 'SHOP_KEY' }, tools: ['add', 'count'] };
  const steps = [call('shop__add', { a: 20, b: 22 }), call('shop__count'), call('shop__pay')];
  const here = await run(server, steps);
  expect(here.seen).toEqual([
    'success: 42',
    expect.stringMatching(/^success: count 1/),
    'error: There is no tool "shop__pay". Tools: shop__add, shop__count.',
  ]);
  expect(readMarks(marks)).toContain('closed');
  const bare = await run(server, steps.slice(0, 1), { environment: 'none' });
  expect(bare).toMatchObject({ cell: { outcome: 'scored' }, seen: ['success: 42'] });
});

test('AF-12 a tool that takes too long is a time-out; a server that dies is told and started again', async () => {
  const marks = nextFile();
  const { cell, seen } = await run(
    stdio(marks, { tools: ['add', 'count', 'die', { name: 'slow', timeout: '300ms' }] }),
    [call('shop__slow'), call('shop__die'), call('shop__count')],
  );
  expect(cell).toMatchObject({ outcome: 'scored' });
  expect(seen).toEqual([
    expect.stringMatching(/^timeout: shop: slow timed out: no result after 0\.3 s/),
    expect.stringMatching(/^error: MCP server "shop" ended during the call .*out of cheese.*not known/s),
    expect.stringMatching(/^success: count 1/),
  ]);
  expect(readMarks(marks).filter((line) => line.startsWith('started'))).toHaveLength(2);
});

test('AF-13 a tool of a server is called once unless the file says that it may be repeated', async () => {
  const marks = nextFile();
  await run(stdio(marks, { tools: [{ name: 'die', idempotent: true, maxAttempts: 2 }] }), [
    call('shop__die'),
  ]);
  expect(readMarks(marks).filter((line) => line === 'died')).toHaveLength(2);
});

test('the death of a stateful server is the loss of the environment: the attempt starts anew, outside retries.max', async () => {
  const marks = nextFile();
  const server = stdio(marks, { stateful: true, variables: { MARKS: marks, DIES_ONCE: 'yes' } });
  const { cell, seen } = await run(server, [call('shop__count'), call('shop__die'), call('shop__count')]);
  expect(cell).toMatchObject({ outcome: 'scored', try_number: 2 });
  expect(seen).toEqual([
    expect.stringMatching(/^success: count 1/),
    expect.stringMatching(/^success: count 1/),
    'success: not again',
    expect.stringMatching(/^success: count 2/),
  ]);
});

test('a server that does not start is infra of its cell, with what it wrote', async () => {
  const server = { name: 'shop', command: 'sh', args: ['-c', 'echo cannot find the shop >&2; exit 4'] };
  const { cell } = await run(server, []);
  expect(cell).toMatchObject({ outcome: 'infra', reason_code: 'mcp_server' });
  expect(cell?.detail).toContain('cannot find the shop');
});
