import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isRunning } from '../environments/test-session.ts';
import { waitUntil } from './wait-until.ts';
import { openModule, tool } from './pool.ts';
import { makeProject, runWith, SUITE } from './project.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a tool gets its arguments as its schema reads them, and what it may know of its call', async () => {
  const { use, lines, folder } = await openModule(
    `import { shout } from 'shouting';
    export const add = defineTool({
      name: 'add', description: 'Adds.',
      parameters: z.strictObject({ a: z.number(), b: z.number().default(1) }),
      execute: ({ a, b }, { idempotencyKey, attempt, context, modelId, caseId }) =>
        ({ sum: a + b, idempotencyKey, attempt, tenant: context['tenant'] ?? null, modelId, caseId }),
    });
    export const plain = defineTool({
      name: 'plain', description: 'JSON Schema.',
      parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      execute: ({ word }) => { console.log('got', word); return shout(word); },
    });
    ${tool('where', '() => [process.cwd(), import.meta.dirname, Object.keys(process.env).sort().join(), typeof process.send]')}`,
    {
      'node_modules/shouting/package.json': '{"name":"shouting","type":"module","exports":"./index.js"}',
      'node_modules/shouting/index.js': `export const shout = (word) => word.toUpperCase() + '!';`,
    },
  );
  expect(JSON.parse((await use('add', { a: 2 })).text)).toEqual({
    sum: 3,
    idempotencyKey: 'key-1',
    attempt: 1,
    tenant: 'acme',
    modelId: 'm',
    caseId: 'c',
  });
  expect(await use('add', { a: 'two', c: 3 })).toEqual({
    status: 'error',
    text: 'add was not run. a: Invalid input: expected number, received string; arguments: Unrecognized key: "c"',
  });
  expect(await use('plain', { word: 'hi' })).toEqual({ status: 'success', text: 'HI!' });
  expect((await use('plain', {})).text).toBe(
    "plain was not run. the value must have required property 'word'",
  );
  expect(lines).toEqual(['got hi']);
  const [cwd, dirname, variables, channel] = JSON.parse((await use('where')).text) as string[];
  expect([cwd, dirname, channel]).toEqual([folder, folder, 'undefined']);
  const kept = ['ASSAY_MODULE_PROCESS', 'HOME', 'LANG', 'LC_ALL', 'PATH', 'TMPDIR', 'TZ'];
  expect((variables ?? '').split(',').filter((name) => !kept.includes(name))).toEqual([]);
});

test('AF-24 what an async generator yields is collected before it is an answer: texts as one, else a list', async () => {
  const { use } = await openModule(`
    ${tool('texts', `async function* () { yield 'one '; await new Promise((go) => setTimeout(go, 20)); yield 'two'; }`)}
    ${tool('rows', `async () => (async function* () { yield { id: 1 }; yield 'two'; })()`)}
    ${tool('breaks', `async function* () { yield 'one'; throw new Error('the line is cut'); }`)}`);
  expect(await use('texts')).toEqual({ status: 'success', text: 'one two' });
  expect(await use('rows')).toEqual({ status: 'success', text: '[{"id":1},"two"]' });
  expect(await use('breaks')).toMatchObject({
    status: 'error',
    text: expect.stringContaining('the line is cut') as string,
  });
});

test('AF-12 a tool that hangs is ended at its limit with everything that it started', async () => {
  const start = `const child = spawn('setsid', ['sleep', '1000'], { detached: true, stdio: 'ignore' });
      writeFileSync('pids', [process.pid, child.pid].join());`;
  const { use, folder } = await openModule(
    `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    ${tool('busy', `() => { ${start} for (;;); }`, `timeout: '500ms',`)}
    ${tool('waits', `async (_args, { signal }) => { signal.addEventListener('abort', () => writeFileSync('told', 'x')); await new Promise(() => setInterval(() => 0, 9)); }`, `timeout: '200ms',`)}
    ${tool('fine', `() => 'fine'`)}`,
  );
  const busy = await use('busy');
  expect(busy.status).toBe('timeout');
  expect(busy.text).toMatch(
    /^busy timed out after \d\.\d s, its limit is 0\.5 s; it and all that it started were ended\. Whether it had an effect is not known\.$/,
  );
  const pids = readFileSync(join(folder, 'pids'), 'utf8').split(',').map(Number);
  await waitUntil('the processes of the tool are gone', async () => {
    return (await Promise.all(pids.map(isRunning))).every((running) => !running);
  });
  expect((await use('waits')).status).toBe('timeout');
  expect(existsSync(join(folder, 'told'))).toBe(true);
  expect(await use('fine')).toEqual({ status: 'success', text: 'fine' });
});

test('a tool that throws, exits, rejects unheard or leaks memory is an observation that says so', async () => {
  const { use } = await openModule(`
    class OrderError extends Error { override name = 'OrderError'; }
    ${tool('throws', `() => { throw new OrderError('no such order'); }`)}
    ${tool('text', `() => { throw 'just text'; }`)}
    ${tool('exits', `() => process.exit(0)`)}
    ${tool('rejects', `async () => { void Promise.reject(new Error('nobody listens')); await new Promise(() => setTimeout(() => 0, 1e6)); }`)}
    ${tool('leaks', `() => { const all: unknown[] = []; for (;;) all.push(new Array(100_000).fill(all.length)); }`)}
    ${tool('buffers', `async () => { const all: unknown[] = []; for (;;) { all.push(Buffer.alloc(32e6, 1)); await new Promise((go) => setTimeout(go, 20)); } }`)}`);
  const unknown = 'Whether it had an effect is not known.';
  expect(await use('throws')).toEqual({
    status: 'error',
    text: expect.stringMatching(/^throws failed: OrderError: no such order \(at run\.ts:4:\d+\)$/) as string,
  });
  expect((await use('text')).text).toBe('text failed: just text');
  expect((await use('exits')).text).toBe(
    `exits broke off: its process exited with code 0 in the middle of the call. ${unknown}`,
  );
  expect((await use('rejects')).text).toMatch(
    /^rejects broke off: an error that nothing caught: nobody listens \(at run\.ts:7:\d+\)\. Whether/,
  );
  expect((await use('leaks')).text).toBe(
    `leaks broke off: it used more memory than its limit of 256 MiB and was ended. ${unknown}`,
  );
  expect((await use('buffers')).text).toMatch(
    /^buffers broke off: it used \d+ MiB of memory, its limit is 768 MiB with buffers, and was ended\./,
  );
});

test('AF-13 only an idempotent tool runs again, when its process broke or its error may pass', async () => {
  const count = `appendFileSync(name, 'x'); const times = readFileSync(name).length;`;
  const times = (name: string, then: string) =>
    `(_args, { attempt }) => { const name = '${name}'; ${count} ${then} }`;
  const { use, folder } = await openModule(`import { appendFileSync, readFileSync } from 'node:fs';
    ${tool('again', times('again', `if (times < 3) process.exit(1); return [times, attempt];`), 'idempotent: true,')}
    ${tool('passing', times('passing', `if (times < 2) throw Object.assign(new Error('busy'), { retryable: true }); return times;`), 'idempotent: true,')}
    ${tool('lasting', times('lasting', `throw new Error('broken');`), 'idempotent: true,')}
    ${tool('once', times('once', `process.exit(1);`))}`);
  expect(await use('again')).toEqual({ status: 'success', text: '[3,3]' });
  expect(await use('passing')).toEqual({ status: 'success', text: '2' });
  expect((await use('lasting')).text).toMatch(/^lasting failed: broken/);
  expect((await use('once')).status).toBe('error');
  const runs = ['lasting', 'once'].map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(runs).toEqual(['x', 'x']);
});

test('a cancelled call ends its process and is no observation', async () => {
  const { use, folder } = await openModule(`import { writeFileSync } from 'node:fs';
    ${tool('busy', `() => { writeFileSync('pid', String(process.pid)); for (;;); }`)}`);
  const stop = new AbortController();
  const call = use('busy', {}, { signal: stop.signal });
  await waitUntil('the tool runs', async () => existsSync(join(folder, 'pid')));
  stop.abort(new Error('cancelled by hand'));
  await expect(call).rejects.toThrow('cancelled by hand');
  expect(await isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
});

test('AF-25 a process is kept for the next call until what is left in it fills half of its memory, and ends with its pool', async () => {
  const { use, pool } = await openModule(`const kept: unknown[] = [];
    ${tool('pid', '() => process.pid')}
    ${tool('keeps', '() => { kept.push(Array.from({ length: 20 }, () => new Array(1_000_000).fill(kept.length))); return process.pid; }')}`);
  const first = (await use('pid')).text;
  expect((await use('pid')).text).toBe(first);
  expect((await use('keeps')).text).toBe(first);
  const second = (await use('pid')).text;
  expect(second).not.toBe(first);
  await pool.stop();
  expect(await Promise.all([first, second].map((pid) => isRunning(Number(pid))))).toEqual([false, false]);
});

test('code of a run file does not outlive a worker that was killed, even when it hears of nothing', async () => {
  const folder = makeProject({
    'run.ts': runWith(
      SUITE,
      `import { writeFileSync } from 'node:fs';
      ${tool('busy', `() => { writeFileSync('pid', String(process.pid)); for (;;); }`)}`,
    ),
  });
  const worker = spawn(process.execPath, ['tests/modules/programs/hold-call.ts', join(folder, 'run.ts')]);
  await waitUntil('the tool runs', async () => existsSync(join(folder, 'pid')));
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  expect(await isRunning(pid)).toBe(true);
  worker.kill('SIGKILL');
  await waitUntil('the process of the tool is gone', async () => !(await isRunning(pid)));
});

test('a worker with a project of its own takes packages from there', async () => {
  const files = (word: string) => ({
    'node_modules/words/package.json': '{"name":"words","type":"module","exports":"./index.js"}',
    'node_modules/words/index.js': `export const word = '${word}';`,
  });
  const body = `import { word } from 'words';\n${tool('says', '() => word')}`;
  const other = makeProject(files('there'));
  expect(await (await openModule(body, files('here'))).use('says')).toMatchObject({ text: 'here' });
  const there = await openModule(body, files('here'), other);
  expect(await there.use('says')).toMatchObject({ text: 'there' });
});
