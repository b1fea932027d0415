import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localDatabaseUrl } from '../../src/local/postgres.ts';
import { readStackFile } from '../../src/local/stack-file.ts';
import { findProcesses } from '../crash/processes.ts';
import { createWorkplace, type Workplace } from '../crash/workplace.ts';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { dumpDatabase, dumpFiles, dumpTemporal, type Dump } from './dump.ts';

const KEY = 'hK7-only-in-the-command-93x';
const CASES = 24;
const WITH_KEY = { HANDED_KEY: KEY };

const tool = (command: string) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'bash', arguments: JSON.stringify({ command }) },
});

let place: Workplace;
let server: Awaited<ReturnType<typeof startHttpServer>>;
let answered = 0;
beforeAll(async () => {
  place = await createWorkplace([1, 2]);
  server = await startHttpServer(async (response, seen) => {
    if (seen.headers['authorization'] !== `Bearer ${KEY}`) {
      return sendJson(response, { error: { message: 'who are you?' } }, 401);
    }
    if (seen.method === 'GET') return sendJson(response, { data: [] });
    await sleep(150);
    const messages = seen.body['messages'] as { readonly role: string }[];
    const acts = seen.body['model'] === 'agent' && messages.every(({ role }) => role !== 'tool');
    answered += 1;
    if (acts)
      return sendJson(
        response,
        toCompletion({ content: null, tool_calls: [tool('sleep 1.5')] }, {}, 'tool_calls'),
      );
    sendJson(response, toCompletion({ content: 'yes' }));
  });
});
afterAll(async () => {
  await place.remove();
  await server[Symbol.asyncDispose]();
});

const suite = (name: string, cases: number) => ({
  name,
  scorers: ['exact'],
  cases: Array.from({ length: cases }, (_, index) => ({ id: `c${index}`, input: 'q', target: 'yes' })),
});

const document = () => ({
  name: 'handed',
  providers: [
    {
      id: 'locked',
      kind: 'openai-compatible',
      baseUrl: server.baseUrl,
      apiKeyEnv: 'HANDED_KEY',
      retry: { max: 0 },
    },
  ],
  models: [
    { id: 'plain', provider: 'locked', model: 'plain' },
    { id: 'agent', provider: 'locked', model: 'agent' },
  ],
  requests: [
    {
      name: 'acting',
      suite: suite('a', 1),
      models: ['agent'],
      harness: { kind: 'agent' },
      environment: 'host',
    },
    { name: 'direct', suite: suite('d', CASES), models: ['plain'] },
  ],
  execution: { taskConcurrency: 2 },
});

async function until<T>(look: () => Promise<T | null> | T | null): Promise<T> {
  for (let count = 0; count < 400; count += 1) {
    const found = await look();
    if (found !== null) return found;
    await sleep(50);
  }
  throw new Error('it did not come');
}

/** Processes whose command line or variables hold the key. */
const findCarriers = (): readonly string[] =>
  findProcesses(place.dataDir)
    .filter(({ pid }) => readProcess(pid).includes(KEY))
    .map(({ command }) => command);

function readProcess(pid: number): string {
  try {
    return ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1')).join('\n');
  } catch {
    return '';
  }
}

const readShown = async (): Promise<{ readonly run: { readonly missingKeys: readonly string[] } }> =>
  JSON.parse((await place.assay('show', 'handed', '--json')).stdout);

async function readDetails(runId: string): Promise<string> {
  const connection = await Connection.connect({
    address: `127.0.0.1:${readStackFile(place.dataDir)?.temporal?.port ?? 0}`,
  });
  try {
    const handle = new Client({ connection }).workflow.getHandle(`run/${runId}`);
    const metadata = await handle.query<{ readonly currentDetails: string }, []>(
      '__temporal_workflow_metadata',
    );
    return metadata.currentDetails;
  } finally {
    await connection.close();
  }
}

const findLeaks = (dump: Dump): readonly string[] =>
  [...dump].filter(([, text]) => text.includes(KEY)).map(([where]) => where);

test(
  'a key of the command alone reaches a worker without it, is lost with the worker, waited for, and kept nowhere',
  { timeout: 300_000 },
  async () => {
    expect(await place.assay('up')).toMatchObject({ exitCode: 0 });
    const file = place.writeRunFile(document());
    const started = await place.startWith(WITH_KEY, 'run', file, '--run-id', 'handed', '--detach').ended;
    expect(started).toMatchObject({ exitCode: 0 });
    const findSleep = () => findProcesses(place.dataDir).find(({ command }) => command.includes('sleep 1.5'));
    await until(() => findSleep() ?? null);
    expect(findCarriers()).toEqual([]);
    await until(() => (findSleep() === undefined ? true : null));

    const pid = readStackFile(place.dataDir)?.worker?.process?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    // A command that has not the key brings a worker back that has not: the run waits, and says for what.
    await until(async () => ((await readShown()).run.missingKeys.length > 0 ? true : null));
    const [shown, detailed, atWait] = [
      await place.assay('show', 'handed'),
      await readDetails('handed'),
      answered,
    ];
    expect(shown.stdout).toContain('Waiting for HANDED_KEY');
    expect(shown.stdout).toContain('`export HANDED_KEY=...`, then `assay watch handed`');
    expect(detailed).toContain('Waiting for HANDED_KEY');
    const looking = place.start('watch', 'handed');
    let said = '';
    looking.process.stderr?.on('data', (text: string) => (said += text));
    await until(() => (said.includes('export HANDED_KEY=...') ? true : null));
    looking.process.kill('SIGKILL');
    await looking.ended;
    expect(answered).toBe(atWait);

    const watched = await place.startWith(WITH_KEY, 'watch', 'handed').ended;
    expect(watched).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${CASES}/${CASES}`) });
    expect((await readShown()).run.missingKeys).toEqual([]);
    expect(findCarriers()).toEqual([]);
    const stack = readStackFile(place.dataDir);
    const database = await dumpDatabase(localDatabaseUrl(place.dataDir, stack?.postgres?.port ?? 0));
    const temporal = await dumpTemporal(`127.0.0.1:${stack?.temporal?.port ?? 0}`, 'default');
    expect(database.get('table public.worker_keys')).toContain('HANDED_KEY');
    expect(findLeaks(database)).toEqual([]);
    expect(findLeaks(temporal)).toEqual([]);
    expect(findLeaks(dumpFiles(place.dataDir))).toEqual([]);
    const outputs = [started, shown, watched].map((one, index) => [
      `output ${index}`,
      one.stdout + one.stderr,
    ]);
    expect(findLeaks(new Map(outputs as [string, string][]))).toEqual([]);
    const calls = database.get('table public.model_calls')?.split('\n').length;
    // One row a call: two of the agent, one of each case; a call that was in flight at the kill has one more.
    expect(calls).toBeLessThanOrEqual(2 + CASES + 4);
  },
);

test('a variable that is unset everywhere skips its model; resume skips it again while the key is wrong, then runs it', async () => {
  const file = place.writeRunFile({
    ...document(),
    providers: [{ ...document().providers[0], apiKeyEnv: 'LATER_KEY' }],
    models: [...document().models, { id: 'free', provider: 'mock', model: 'echo' }],
    requests: [{ name: 'direct', suite: suite('d', 3), models: ['plain', 'free'] }],
  });
  const ran = await place.assay('run', file, '--run-id', 'later');
  expect(ran.stdout).toContain('the variable LATER_KEY is unset or empty where the worker runs');
  const askedBefore = server.requests.length;
  await place.startWith({ LATER_KEY: 'not-the-right-one' }, 'resume', 'later').ended;
  // One look with the wrong key, and no call.
  expect(server.requests.slice(askedBefore).map(({ method }) => method)).toEqual(['GET']);
  const resumed = await place.startWith({ LATER_KEY: KEY }, 'resume', 'later').ended;
  expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('3/3') });
});
