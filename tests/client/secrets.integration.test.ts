import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localDatabaseUrl } from '../../src/local/postgres.ts';
import { readStackFile } from '../../src/local/stack-file.ts';
import { findProcesses } from '../crash/processes.ts';
import { createWorkplace, type Workplace } from '../crash/workplace.ts';
import { sendEvents, sendJson, startHttpServer, toCompletion, type Reply } from '../providers/http-server.ts';
import { dumpDatabase, dumpFiles, dumpTemporal, type Dump } from './dump.ts';

const SECRET = 'Kq7/+hush=Value"9:zq';
const BASE64 = Buffer.from(SECRET).toString('base64').slice(0, -2);
const FORMS = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), BASE64];
/** A part of the key that would be left of it if a text were cut before it is cleaned. */
const PART = 'hush=Value';

const tool = (command: string) => ({
  id: SECRET,
  type: 'function',
  function: { name: 'bash', arguments: JSON.stringify({ command }) },
});

/** What a server says that knows the key of its caller, by the name of the model. */
const LEAKS: { readonly [model: string]: Reply } = {
  answer: (response) =>
    sendJson(response, toCompletion({ content: FORMS.join(' '), reasoning_content: SECRET }, { id: SECRET })),
  stream: (response) =>
    sendEvents(response, [
      { id: SECRET, choices: [{ index: 0, delta: { content: SECRET.slice(0, 7) } }] },
      { choices: [{ index: 0, delta: { content: SECRET.slice(7) }, finish_reason: 'stop' }] },
      '[DONE]',
    ]),
  agent: (response, seen) => {
    const steps = (seen.body['messages'] as { role: string }[]).filter((one) => one.role === 'assistant');
    const calls = [tool(`echo '${SECRET}' > said; cat said`), tool("tr '\\0' '\\n' < /proc/$PPID/environ")];
    const call = calls[steps.length];
    if (call === undefined) return sendJson(response, toCompletion({ content: SECRET }));
    sendJson(response, toCompletion({ content: SECRET, tool_calls: [call] }, {}, 'tool_calls'));
  },
  parts: (response) =>
    sendJson(response, toCompletion({ content: [{ type: SECRET }, { type: 'text', text: SECRET }] })),
  refused: (response) => sendJson(response, { error: { message: `wrong key ${SECRET}`, code: SECRET } }, 401),
  failing: (response) => {
    response.writeHead(503, { 'x-key': SECRET, 'content-type': 'text/html' }).end(`<p>${SECRET} is busy</p>`);
  },
  moved: (response) => {
    response.writeHead(302, { location: `http://elsewhere/?key=${encodeURIComponent(SECRET)}` }).end(SECRET);
  },
  encoded: (response) => {
    response.writeHead(200, { 'content-encoding': SECRET }).end('x');
  },
  broken: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"${JSON.stringify(SECRET)}`);
  },
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: {"id": "${SECRET}\n\n`);
  },
  finish: (response) => sendJson(response, toCompletion({ content: 'x' }, {}, SECRET)),
};

let place: Workplace;
let servers: Awaited<ReturnType<typeof startHttpServer>>[];
beforeAll(async () => {
  place = await createWorkplace([1, 2], { LEAKY_KEY: SECRET });
  const leaky = await startHttpServer((response, seen, number) => {
    if (seen.method === 'GET') return sendJson(response, { data: [] });
    return LEAKS[String(seen.body['model'])]?.(response, seen, number);
  });
  const unwell = await startHttpServer((response) =>
    sendJson(response, { error: { message: `no account for ${SECRET}` } }, 401),
  );
  servers = [leaky, unwell];
});
afterAll(async () => {
  await place.remove();
  for (const server of servers) await server[Symbol.asyncDispose]();
});

const provider = (id: string, baseUrl: string | undefined, more: object = {}) => ({
  id,
  kind: 'openai-compatible',
  baseUrl,
  apiKeyEnv: 'LEAKY_KEY',
  retry: { max: 1, base: '10ms' },
  ...more,
});

const leakyRun = () => ({
  name: 'leaky',
  providers: [
    provider('leaky', servers[0]?.baseUrl),
    provider('streaming', servers[0]?.baseUrl, { stream: true }),
    provider('unwell', servers[1]?.baseUrl),
  ],
  models: [
    ...Object.keys(LEAKS).map((model) => ({
      id: model,
      provider: model === 'stream' || model === 'cut' ? 'streaming' : 'leaky',
      model,
    })),
    { id: 'skipped', provider: 'unwell', model: 'answer' },
  ],
  requests: [
    {
      name: 'direct',
      suite: {
        name: 'd',
        scorers: ['exact', 'includes', 'json'],
        cases: [{ id: 'one', input: 'q', target: 'a' }],
      },
      models: [...Object.keys(LEAKS).filter((model) => model !== 'agent'), 'skipped'],
    },
    {
      name: 'acting',
      suite: { name: 'a', scorers: ['exact'], cases: [{ id: 'two', input: 'q', target: 'a' }] },
      models: ['agent'],
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'host' },
    },
  ],
});

/** Places that hold the key in any form that a reader could undo. */
const findLeaks = (dump: Dump): string[] =>
  [...dump].flatMap(([where, text]) =>
    [...FORMS, PART].flatMap((form) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [`${where}: ${text.slice(Math.max(0, at - 60), at + 40)}`];
    }),
  );

test('a key that an endpoint says back in answers, errors and headers is kept and shown nowhere', async () => {
  const file = place.writeRunFile(leakyRun());
  const ran = await place.assay('run', file, '--run-id', 'leaky');
  expect(ran.stdout).toContain('[redacted]');
  const shown = [ran];
  for (const [testCase, model] of [
    ['one', 'answer'],
    ['one', 'stream'],
    ['one', 'refused'],
    ['two', 'agent'],
  ] as const) {
    shown.push(await place.assay('show', 'leaky', testCase, '--model', model, '--attempt', '1'));
  }
  shown.push(await place.assay('show', 'leaky'), await place.assay('report', 'leaky', '--format', 'json'));
  const output: Dump = new Map(shown.map((one, index) => [`output ${index}`, one.stdout + one.stderr]));

  const stack = readStackFile(place.dataDir);
  const database = await dumpDatabase(localDatabaseUrl(place.dataDir, stack?.postgres?.port ?? 0));
  const temporal = await dumpTemporal(`127.0.0.1:${stack?.temporal?.port ?? 0}`, 'default');
  // The dumps do hold what was said around the key.
  expect(database.get('table public.blobs')).toContain('[redacted]');
  expect(database.get('table public.plans')).toContain('no account for');
  expect(temporal.size).toBeGreaterThan(Object.keys(LEAKS).length);
  expect(findLeaks(output)).toEqual([]);
  // The worker has the variables of the command that started the stack; Postgres and Temporal have not.
  const variables = findProcesses(place.dataDir).map(
    ({ pid, command }) => [command, readFileSync(`/proc/${pid}/environ`, 'latin1')] as const,
  );
  expect(findLeaks(new Map(variables)).filter((where) => !/ worker --stack/.test(where))).toEqual([]);
  expect(findLeaks(database)).toEqual([]);
  expect(findLeaks(temporal)).toEqual([]);
  expect(findLeaks(dumpFiles(join(place.dataDir, 'logs')))).toEqual([]);
});
