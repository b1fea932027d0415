import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { McpServerSpec } from '../../src/domain/mcp-server.ts';
import { SessionLostError } from '../../src/environments/environment.ts';
import { McpPool } from '../../src/tools/mcp-pool.ts';
import { createMcpTool } from '../../src/tools/mcp-tool.ts';
import { isRunning } from '../environments/test-session.ts';

vi.setConfig({ testTimeout: 60_000 });

const PROGRAM = fileURLToPath(new URL('programs/mcp-server.ts', import.meta.url));

/** A server of a session, and the pools of two workers of one host, the first of which is lost in between. */
async function prepare(stateful: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-mcp-'));
  const marks = join(folder, 'marks');
  const server: McpServerSpec = {
    name: 'shop',
    transport: {
      kind: 'stdio',
      command: process.execPath,
      args: [PROGRAM, 'stdio'],
      variables: { MARKS: marks },
      stateful,
    },
    tools: null,
    policies: {},
  };
  const session = { sessionId: 'run/1/a1/t1', isOpen: true, findDirectory: async () => null };
  const createPool = () =>
    new McpPool({
      folder: join(folder, 'mcp'),
      path: process.env['PATH'] ?? '',
      readVariable: () => null,
    });
  const [lost, next] = [createPool(), createPool()];
  onTestFinished(async () => {
    await Promise.all([lost.stop(), next.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const count = async (pool: McpPool) => {
    const schema = { name: 'shop__count', description: '', parameters: {} };
    const tool = createMcpTool({ pool, server, session }, { server: 'shop', tool: 'count', schema });
    const context = {
      session: null,
      idempotencyKey: 'k',
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    };
    return (await tool.run({}, context)).text.split(' in ')[0];
  };
  const listStarted = (): number[] =>
    readFileSync(marks, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('started'))
      .map((line) => Number(line.split(' ')[1]));
  await lost.open(session, server);
  return { lost, next, count, listStarted, records: () => readdirSync(join(folder, 'mcp')) };
}

test('a stdio server of a worker that was lost is ended by the next one, and started again at the next call', async () => {
  const { lost, next, count, listStarted, records } = await prepare(false);
  expect([await count(lost), await count(lost)]).toEqual(['count 1', 'count 2']);
  await next.endLeft();
  expect(records()).toEqual([]);
  expect(await isRunning(listStarted()[0] ?? 0)).toBe(false);
  expect(await count(next)).toBe('count 1');
  expect(listStarted()).toHaveLength(2);
});

test('a stateful one is not started again: what it held was part of the attempt', async () => {
  const { lost, next, count, listStarted } = await prepare(true);
  expect(await count(lost)).toBe('count 1');
  await next.endLeft();
  await expect(count(next)).rejects.toThrow(SessionLostError);
  expect(listStarted()).toHaveLength(1);
});
