import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CommandLostError, SessionLostError } from '../../src/environments/environment.ts';
import type { EnvironmentSession } from '../../src/environments/environment.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ToolArguments } from '../../src/domain/transcript.ts';
import { findTool, TOOL_NAMES } from '../../src/tools/lookup.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { Tool, ToolResult } from '../../src/tools/tool.ts';
import { isRunning, makeHost, openSession } from '../environments/test-session.ts';

type Call = {
  readonly session: EnvironmentSession;
  readonly tool?: Tool | null;
  readonly name: string;
  readonly arguments: ToolArguments;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

const send = (call: Call): Promise<ToolResult> =>
  runTool({
    tool: call.tool === undefined ? findTool(call.name) : call.tool,
    offered: TOOL_NAMES,
    call: { id: 'call-1', name: call.name, arguments: call.arguments },
    context: {
      session: call.session,
      idempotencyKey: 'key',
      timeoutMs: call.timeoutMs ?? 20_000,
      signal: call.signal ?? new AbortController().signal,
    },
  });

const use = (session: EnvironmentSession, name: string, value: JsonObject): Promise<ToolResult> =>
  send({ session, name, arguments: { kind: 'parsed', value } });

test('bash gives output and exit code', async () => {
  const session = await openSession();
  expect(await use(session, 'bash', { command: 'echo hi; echo no >&2' })).toEqual({
    status: 'success',
    text: 'hi\nno\n[exit code 0]',
  });
  expect(await use(session, 'bash', { command: 'printf x; exit 4' })).toEqual({
    status: 'error',
    text: 'x\n[exit code 4]',
  });
});

test('C22 AF-12 bash that runs too long is told as a time-out with its output so far', async () => {
  const session = await openSession();
  const result = await use(session, 'bash', { command: 'echo $$; sleep 1000', timeout_ms: 300 });
  expect(result.status).toBe('timeout');
  expect(result.text).toMatch(/^\d+\n\[timed out after 0\.\d s, its limit is 0\.3 s; .*ended\]$/);
  expect(await isRunning(Number(result.text.split('\n')[0]))).toBe(false);
});

test('a time-out asked for beyond the policy is cut to it', async () => {
  const session = await openSession();
  const args: ToolArguments = { kind: 'parsed', value: { command: 'sleep 1000', timeout_ms: 50_000 } };
  const result = await send({ session, name: 'bash', arguments: args, timeoutMs: 200 });
  expect(result).toMatchObject({ status: 'timeout', text: /its limit is 0\.2 s/ });
});

test('files are written, listed and read', async () => {
  const session = await openSession();
  expect(await use(session, 'list_files', {})).toEqual({ status: 'success', text: '"." is empty.' });
  expect(await use(session, 'write_file', { path: 'a/b.txt', content: 'one\ntwö\nthree\n' })).toEqual({
    status: 'success',
    text: 'Wrote 15 bytes to "a/b.txt".',
  });
  expect((await use(session, 'list_files', {})).text).toBe('a/');
  expect((await use(session, 'list_files', { path: 'a' })).text).toBe('b.txt');
  expect((await use(session, 'read_file', { path: 'a/b.txt' })).text).toBe('one\ntwö\nthree\n');
});

test('some lines of a file are read with a note of which', async () => {
  const session = await openSession();
  await session.writeFile('f', Buffer.from('1\n2\n3\n4\n'));
  const read = async (value: JsonObject): Promise<string> =>
    (await use(session, 'read_file', { path: 'f', ...value })).text;
  expect(await read({ offset: 2, limit: 2 })).toBe('2\n3\n[lines 2 to 3 of 4]');
  expect(await read({ limit: 99 })).toBe('1\n2\n3\n4\n[lines 1 to 4 of 4]');
  expect(await read({ offset: 5 })).toBe('"f" has 4 lines; line 5 was asked for.');
});

test('a file that is not text is told, not shown', async () => {
  const session = await openSession();
  await session.writeFile('f', Buffer.from([0xff, 0xfe, 0x41]));
  expect(await use(session, 'read_file', { path: 'f' })).toMatchObject({
    status: 'error',
    text: /^"f" is not text: 3 bytes/,
  });
});

test('failures of files are observations', async () => {
  const session = await openSession();
  await symlink('/etc/hostname', join(session.handle.root, 'work/link'));
  expect(await use(session, 'read_file', { path: 'none' })).toEqual({
    status: 'error',
    text: '"none" does not exist.',
  });
  expect(await use(session, 'read_file', { path: 'link' })).toMatchObject({ text: /outside the working/ });
  expect(await use(session, 'write_file', { path: '../x', content: '' })).toMatchObject({ status: 'error' });
});

test('F19 arguments that do not fit are told with their names', async () => {
  const session = await openSession();
  expect((await use(session, 'bash', {})).text).toMatch(/^bash was not run\. command: /);
  expect((await use(session, 'bash', { command: 'ls', cmd: 1 })).text).toBe(
    'bash was not run. cmd: there is no such argument',
  );
  expect((await use(session, 'read_file', { path: 'f', offset: 0 })).text).toMatch(/offset: /);
});

test('F19 arguments that were not JSON run nothing and are shown', async () => {
  const session = await openSession();
  const result = await send({
    session,
    name: 'read_file',
    arguments: { kind: 'unreadable', text: '{"path": "a.tx' },
  });
  expect(result.status).toBe('error');
  expect(result.text).toMatch(/^read_file was not run: its arguments were not JSON: \{"path": "a\.tx\n/);
});

test('F19 an unknown or empty name is answered with the names that exist', async () => {
  const session = await openSession();
  for (const name of ['functions.bash', '']) {
    const result = await send({ session, name, arguments: { kind: 'parsed', value: {} } });
    expect(result).toEqual({
      status: 'error',
      text: `There is no tool "${name}". Tools: bash, read_file, write_file, list_files, submit.`,
    });
  }
});

test('a tool that throws is an observation', async () => {
  const session = await openSession();
  const tool: Tool = { ...findBash(), run: () => Promise.reject(new Error('out of paper')) };
  const given = { kind: 'parsed', value: { command: 'ls' } } as const;
  const result = await send({ session, tool, name: 'bash', arguments: given });
  expect(result).toEqual({ status: 'error', text: 'out of paper' });
});

test('an abort ends the tool and rejects with its reason', async () => {
  const session = await openSession();
  const abort = new AbortController();
  const args: ToolArguments = { kind: 'parsed', value: { command: 'sleep 1000' } };
  const running = send({ session, name: 'bash', arguments: args, signal: abort.signal });
  setTimeout(() => abort.abort(new Error('cancelled by test')), 200);
  await expect(running).rejects.toThrow('cancelled by test');
});

test('a session that is gone is no observation', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  await host.close(session.handle);
  await expect(use(session, 'bash', { command: 'ls' })).rejects.toBeInstanceOf(SessionLostError);
  await expect(use(session, 'read_file', { path: 'f' })).rejects.toBeInstanceOf(SessionLostError);
});

test('a command whose end nobody knows is no observation: the ledger decides', async () => {
  const session = await openSession();
  const tool: Tool = { ...findBash(), run: () => Promise.reject(new CommandLostError('lost')) };
  const given = { kind: 'parsed', value: { command: 'ls' } } as const;
  await expect(send({ session, tool, name: 'bash', arguments: given })).rejects.toBeInstanceOf(
    CommandLostError,
  );
});

test('only tools that may be repeated are marked as such', () => {
  const idempotent = TOOL_NAMES.filter((name) => findTool(name)?.policy.idempotent);
  expect(idempotent).toEqual(['read_file', 'write_file', 'list_files', 'submit']);
});

function findBash(): Tool {
  const tool = findTool('bash');
  if (tool === null) throw new Error('bash is missing');
  return tool;
}

/** Fails for a passing reason so many times. */
function flaky(times: number, policy: Partial<Tool['policy']>) {
  const keys: string[] = [];
  const tool: Tool = {
    schema: { name: 'flaky', description: '', parameters: {} },
    policy: { idempotent: true, timeoutMs: 20_000, maxAttempts: 3, onUnknown: 'rerun', ...policy },
    place: 'session',
    run: async (_args, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length > times) return { status: 'success', text: 'there' };
      throw Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
    },
  };
  return { tool, keys };
}

test('AF-13 AF-05 what fails for a passing reason is tried again with the same key where the tool may be repeated', async () => {
  const session = await openSession();
  const args: ToolArguments = { kind: 'parsed', value: {} };
  const use = async (times: number, policy: Partial<Tool['policy']>) => {
    const { tool, keys } = flaky(times, policy);
    const result = await send({ session, tool, name: 'flaky', arguments: args });
    return { result, keys };
  };
  expect(await use(2, {})).toEqual({
    result: { status: 'success', text: 'there' },
    keys: ['key', 'key', 'key'],
  });
  expect(await use(3, {})).toMatchObject({ result: { status: 'error', text: 'connection reset (3 times)' } });
  const once = await use(1, { idempotent: false, maxAttempts: 1 });
  expect(once).toEqual({ result: { status: 'error', text: 'connection reset' }, keys: ['key'] });
});

test('submit hands in an answer and needs no environment', async () => {
  const value = { answer: '42' };
  const tool = findTool('submit');
  const context = {
    session: null,
    idempotencyKey: '',
    timeoutMs: 1_000,
    signal: new AbortController().signal,
  };
  const call = { id: 'c', name: 'submit', arguments: { kind: 'parsed' as const, value } };
  expect(await runTool({ tool, offered: ['submit'], call, context })).toEqual({
    status: 'success',
    text: 'Submitted.',
    final: '42',
  });
  const wrong = { ...call, arguments: { kind: 'parsed' as const, value: { text: '42' } } };
  expect(await runTool({ tool, offered: ['submit'], call: wrong, context })).toMatchObject({
    status: 'error',
  });
});
