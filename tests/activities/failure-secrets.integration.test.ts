import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { EnvironmentProvider } from '../../src/environments/environment.ts';
import { dumpDatabase, dumpTemporal, type Dump } from '../client/dump.ts';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, loadCells, script, sums, workflowOf } from '../workflows/support.ts';

const SECRET = 'Kq7/+hush=Value"9:zq';
const FORMS = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), 'hush=Value'];

const leak = (where: string): Error =>
  new Error(`${where} failed with ${SECRET}`, { cause: new Error(`${where} inner ${SECRET}`) });

/** A host whose calls fail with the secret, as the commands of a case ask for it. */
const wrapEnvironment = (provider: EnvironmentProvider): EnvironmentProvider => {
  if (provider.kind !== 'host') return provider;
  const wrap = (session: Awaited<ReturnType<EnvironmentProvider['open']>>) =>
    new Proxy(session, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (/break/.test(JSON.stringify(args))) throw leak(`tool in ${String(name)}`);
          if (name === 'endProcesses') throw leak('end of processes');
          return (await value.apply(target, args)) as unknown;
        };
      },
    });
  return {
    ...provider,
    open: async (request) => wrap(await provider.open(request)),
    attach: async (handle) => {
      const session = await provider.attach(handle);
      return session === null ? null : wrap(session);
    },
    close: async (handle) => {
      await provider.close(handle);
      throw leak('docker: close');
    },
  };
};

let assay: TestAssay;
let leaky: Awaited<ReturnType<typeof startHttpServer>>;
beforeAll(async () => {
  let said = 'not yet';
  leaky = await startHttpServer((response, { path, body, headers }) => {
    // An endpoint, a server of tools and an engine of containers in one: it says what it was told.
    said = headers.authorization?.replace('Bearer ', '') ?? said;
    if (!path.startsWith('/v1')) return sendJson(response, { message: `${path}: no ${said}` }, 500);
    if (body['model'] === 'fine') return sendJson(response, toCompletion({ content: '1' }));
    return sendJson(response, { error: { message: `wrong key ${SECRET}` } }, 400);
  });
  vi.stubEnv('LEAKY_KEY', SECRET);
  vi.stubEnv('DOCKER_HOST', `tcp://127.0.0.1:${leaky.port}`);
  assay = await createTestAssay({ wrapEnvironment });
});
afterAll(async () => {
  await assay.close();
  await leaky[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const mcp = () => ({
  name: 'shop',
  url: `http://127.0.0.1:${leaky.port}/mcp`,
  headersEnv: { 'x-key': 'LEAKY_KEY' },
});

const leakyRun = (): Json => ({
  name: 'leaky',
  providers: [{ id: 'leaky', kind: 'openai-compatible', baseUrl: leaky.baseUrl, apiKeyEnv: 'LEAKY_KEY' }],
  models: [
    { id: 'fine', provider: 'leaky', model: 'fine' },
    { id: 'refused', provider: 'leaky', model: 'refused' },
    script([bash('echo break'), { say: '1' }]),
  ],
  requests: [
    { name: 'direct', suite: sums(1), models: ['fine', 'refused'] },
    {
      name: 'tool',
      suite: sums(1),
      models: ['agent'],
      harness: { kind: 'agent', tools: [{ name: 'bash', onUnknown: 'skip' }] },
      environment: 'host',
    },
    {
      name: 'mcp',
      suite: sums(1),
      models: ['agent'],
      harness: { kind: 'agent', mcp: [mcp()] },
      environment: 'host',
    },
  ],
});

const findLeaks = (dump: Dump): string[] =>
  [...dump].flatMap(([where, text]) =>
    FORMS.flatMap((form) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [`${where}: ${text.slice(Math.max(0, at - 80), at + 40)}`];
    }),
  );

test('what a provider, a tool, a server of tools and an engine of containers say of a key is in no history and no row', async () => {
  const runId = await begin(assay, leakyRun());
  await assay.result(runId);
  const outcomes = (await loadCells(assay, runId)).map(
    ({ request, model_id: model, outcome }) => `${request} ${model} ${outcome}`,
  );
  expect(outcomes).toEqual([
    'direct fine scored',
    'direct refused error',
    'tool agent scored',
    'mcp agent infra',
  ]);
  const refused = await begin(assay, {
    models: [script([{ say: '1' }])],
    suite: sums(1),
    harness: 'agent',
    environment: { kind: 'docker', image: 'somewhere/image:1' },
  });
  await workflowOf(assay, refused)
    .result()
    .catch(() => undefined);

  const histories = await dumpTemporal(assay.temporal.temporalAddress, workflowNamespace());
  // They do hold what was said around it.
  const all = [...histories.values()].join('\n');
  expect.soft(all).toContain('docker: close failed with [redacted]');
  expect.soft(all).toContain('tool in exec failed with [redacted]');
  expect.soft(all).toContain('docker: close inner [redacted]');
  expect.soft(all).toContain('/_ping: no [redacted]');
  expect.soft(findLeaks(histories)).toEqual([]);
  expect.soft(findLeaks(await dumpDatabase(assay.databaseUrl))).toEqual([]);
});

const workflowNamespace = (): string => assay.client.options.namespace;
