import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCells } from '../workflows/support.ts';
import { describeBubblewrap } from './bubblewrap-subject.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';
import { CHECK, DISK_ESCAPE, toEscapes, toSandboxEscapes, type Escape, type Listening } from './escapes.ts';
import { countRunning, makeMark } from './marked-processes.ts';

const noSandbox = (await describeBubblewrap()).problem;
const noEngine = findEngineProblem();
if (noSandbox !== null) console.warn(`skipped: escapes from bubblewrap: ${noSandbox}`);
if (noEngine !== null) console.warn(`skipped: escapes from docker: ${noEngine}`);

/** More than a worker takes for itself, less than a flood. */
const FLAT_BYTES = 300_000_000;

let folder: string;
let assay: TestAssay;
let engine: TestEngine | null = null;
let server: Server;
let listening: Listening;
let other: ChildProcess;
const canary = `canary${makeMark().replace('.', '')}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-escapes-'));
  writeFileSync(join(folder, 'check'), CHECK);
  engine = noEngine === null ? await startEngine() : null;
  if (engine !== null) vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
  assay = await createTestAssay();
  server = createServer((socket) => socket.on('error', () => undefined).end()).listen(0, '::');
  await new Promise((resolve) => server.once('listening', resolve));
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  listening = {
    port: (server.address() as AddressInfo).port,
    addresses: addresses.filter(({ internal }) => !internal).map(({ address }) => address),
  };
  // A process of the worker's user whose variables hold a secret, as the worker's do.
  other = spawn('sleep', ['600'], { env: { SECRET: canary }, stdio: 'ignore' });
});

afterAll(async () => {
  other.kill('SIGKILL');
  server.close();
  await assay.close();
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One request whose cases are the escapes. */
const toRequest = (
  name: string,
  escapes: readonly Escape[],
  more: { readonly [key: string]: Json },
): Json => ({
  name,
  models: [name],
  harness: { kind: 'agent', maxSteps: 6 },
  suite: {
    name,
    scorers: [
      {
        kind: 'command',
        command: 'sleep 0.3; sh "$ASSAY_GRADER/check"',
        files: { check: join(folder, 'check') },
      },
    ],
    cases: escapes.map(({ id, setup }) => ({
      id,
      input: 'Work.',
      ...(setup === undefined ? {} : { setup }),
    })),
  },
  ...more,
});

const toModel = (name: string, escapes: readonly Escape[]): Json => ({
  id: name,
  provider: 'mock',
  model: 'script',
  params: {
    script: {
      cases: Object.fromEntries(
        escapes.map(({ id, steps }) => [id, { good: [...steps, { say: 'done' }], bad: [] }]),
      ),
    },
  },
});

type Try = readonly [name: string, escapes: readonly Escape[], more: { readonly [key: string]: Json }];

/** Runs all of it and returns each cell's end by request and case, with what its tools said. */
async function run(tries: readonly Try[]) {
  const before = process.memoryUsage().rss;
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20);
  const runId = await begin(assay, {
    models: tries.map(([name, escapes]) => toModel(name, escapes)),
    requests: tries.map(([name, escapes, more]) => toRequest(name, escapes, more)),
    execution: { taskConcurrency: 6, seed: 1 },
  });
  await assay.result(runId);
  clearInterval(timer);
  const cells = await loadCells(assay, runId);
  const { rows } = await assay.db.query<{ request: string; case_id: string; text: string }>(
    `select t.model_id as request, t.case_id, convert_from(b.bytes, 'UTF8') as text from steps s
       join tasks t on t.run_id = s.run_id and t.task = s.task join blobs b on b.digest = s.digest and b.chunk = 0
       where s.run_id = $1 and s.role = 'tool' order by s.task, s.sequence`,
    [runId],
  );
  const said = (request: string, id: string): string =>
    rows
      .filter((row) => row.request === request && row.case_id === id)
      .map(({ text }) => text)
      .join('\n');
  return { cells, said, grownBytes: highest - before };
}

/** Outcome and score of each cell; what ended otherwise says why. */
const toEnds = (cells: Awaited<ReturnType<typeof run>>['cells']) =>
  Object.fromEntries(
    cells.map(({ request, case_id: id, outcome, score, detail }) => [
      `${request}/${id}`,
      outcome === 'scored' ? score : `${outcome}: ${detail}`,
    ]),
  );

const toExpected = (tries: readonly Try[]) =>
  Object.fromEntries(
    tries.flatMap(([name, escapes]) => escapes.map(({ id, score }) => [`${name}/${id}`, score])),
  );

const closed = { network: { baseline: 'public', run: 'none', evaluation: 'none' } } as const;

/** Tries everything in one environment; how each cell ended, and should have. */
async function contains(environment: { readonly [key: string]: Json }) {
  const mark = makeMark();
  const all = [...toEscapes(mark, canary), ...toSandboxEscapes(listening)];
  const limited = { ...environment, ...closed, resources: { pids: 100 } };
  const tries: readonly Try[] = [
    ['reuse', all, { environment: limited }],
    ['fresh', all.filter(({ id }) => id === 'grader'), { environment: limited, evaluation: 'fresh' }],
    ['disk', [DISK_ESCAPE], { environment: { ...environment, resources: { disk: '16m' } } }],
  ];
  const { cells, said, grownBytes } = await run(tries);
  expect(countRunning(mark)).toBe(0);
  expect(grownBytes).toBeLessThan(FLAT_BYTES);
  expect(said('reuse', 'flood')).toMatch(/ bytes cut /);
  expect(said('reuse', 'forks')).toMatch(/timed out .* limit of pids/);
  expect(said('disk', 'disk')).toMatch(/No space left/);
  return { ends: toEnds(cells), expected: toExpected(tries) };
}

describe('what an agent tries is contained, and its cell ends as it should', { timeout: 300_000 }, () => {
  test.skipIf(noSandbox !== null)(
    'AC-S2 C15 bubblewrap: daemons, a flood, a fork bomb, a full disk, other processes’ variables, the network, the grader’s files',
    async () => {
      const { ends, expected } = await contains({ kind: 'bubblewrap' });
      expect(ends).toEqual(expected);
    },
  );

  test.skipIf(noEngine !== null)(
    'AC-S2 C15 docker: daemons, a flood, a fork bomb, a full disk, other processes’ variables, the network, the grader’s files',
    async () => {
      const { ends, expected } = await contains({ kind: 'docker', image: IMAGE });
      expect(ends).toEqual(expected);
    },
  );

  test('AC-S2 C15 host: daemons, a flood and the grader’s files; variables of its own user’s processes it does not hide', async () => {
    const mark = makeMark();
    // Declared so: what its own user's processes were started with is there to be read.
    const all = toEscapes(mark, canary).map((one) =>
      one.id === 'environ' ? { ...one, score: 0 as const } : one,
    );
    const grader = all.filter(({ id }) => id === 'grader');
    const tries: readonly Try[] = [
      ['reuse', all, { environment: 'host' }],
      ['fresh', grader, { environment: 'host', evaluation: 'fresh' }],
    ];
    const { cells, grownBytes } = await run(tries);
    expect(toEnds(cells)).toEqual(toExpected(tries));
    expect(countRunning(mark)).toBe(0);
    expect(grownBytes).toBeLessThan(FLAT_BYTES);
  });
});
