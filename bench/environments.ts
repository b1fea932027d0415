import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { createEnvironments } from '../src/environments/lookup.ts';
import type { EnvironmentProvider } from '../src/environments/environment.ts';

/**
 * What an environment costs: open + close, one command, one file in and out, each beside its floor in the same
 * run, a bare `spawn` of the same command. `node bench/environments.ts [--image IMAGE] [--socket PATH]`.
 */
const { values } = parseArgs({ options: { image: { type: 'string' }, socket: { type: 'string' } } });
const ROUNDS = 20;

const runBare = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore', detached: true });
    child.once('error', reject).once('exit', () => resolve());
  });

/** Median of `ROUNDS` rounds, in milliseconds. */
async function measure(work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    await work(round);
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[ROUNDS / 2] ?? 0;
}

async function measureEnvironment(provider: EnvironmentProvider): Promise<string> {
  const floorMs = await measure(runBare);
  const image = provider.kind === 'docker' && values.image !== undefined ? { image: values.image } : {};
  const request = { variables: {}, ...image };
  const openCloseMs = await measure(async (round) => {
    const { handle } = await provider.open({ ...request, sessionId: `bench/${round}` });
    await provider.close(handle);
  });
  const session = await provider.open({ ...request, sessionId: 'bench/one' });
  const command = { command: 'true', timeoutMs: 20_000, stdin: null, cwd: null, variables: {} };
  const execMs = await measure(() => session.exec(command, new AbortController().signal));
  const fileMs = await measure(async () => {
    await session.writeFile('f', Buffer.from('x'));
    await session.readFile('f');
  });
  await provider.close(session.handle);
  const figures = [openCloseMs, execMs, fileMs].map(
    (ms) => `${ms.toFixed(1)} | ${(ms / floorMs).toFixed(1)}`,
  );
  return `| \`${provider.kind}\` | ${floorMs.toFixed(1)} | ${figures.join(' | ')} |`;
}

const root = await mkdtemp(join(tmpdir(), 'assay-bench-'));
try {
  const place = { hostId: 'bench', installationId: 'bench', path: process.env['PATH'] ?? '' };
  console.log(
    '| Environment | Floor ms | Open + close ms | / floor | One command ms | / floor | One file in and out ms | / floor |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  const environments = createEnvironments({
    host: { ...place, root: join(root, 'sessions') },
    bubblewrap: { ...place, root: join(root, 'sandboxes') },
    docker: {
      ...place,
      root: join(root, 'containers'),
      ...(values.socket === undefined ? {} : { socketPath: values.socket }),
    },
  });
  for (const environment of environments) {
    const { problem } = await environment.describe();
    const missing = environment.kind === 'docker' && values.image === undefined ? 'no --image' : problem;
    console.log(
      missing === null ? await measureEnvironment(environment) : `| \`${environment.kind}\` | ${missing} |`,
    );
    if (missing === null) await environment.removeLeftovers();
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
