import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findProcesses } from '../crash/processes.ts';
import { createWorkplace, type Workplace } from '../crash/workplace.ts';

let place: Workplace;
beforeAll(async () => {
  place = await createWorkplace([1, 2]);
});
afterAll(async () => {
  await place.remove();
});

type Document = { readonly [key: string]: unknown };
const read = (text: string): Document => JSON.parse(text) as Document;

const slowRun = {
  name: 'slow',
  models: [{ id: 'right', provider: 'mock', model: 'oracle', params: { latencyMs: 1_000 } }],
  suite: {
    name: 'sums',
    scorers: ['exact'],
    cases: Array.from({ length: 40 }, (_, index) => ({
      id: `sum-${index}`,
      input: 'x',
      target: String(index),
    })),
  },
  execution: { taskConcurrency: 2 },
};

/** Waits for a text on standard error of a command. */
async function waitForLine(command: ReturnType<Workplace['start']>, pattern: RegExp): Promise<void> {
  let text = '';
  command.process.stderr?.on('data', (part: string) => (text += part));
  for (let look = 0; look < 1_200 && command.isRunning(); look += 1) {
    if (pattern.test(text)) return;
    await sleep(50);
  }
  throw new Error(`the command ended or was silent before ${pattern}: ${text}`);
}

test('init, run, list, show and report work one after the other on a stack that the first of them starts', async () => {
  await place.assay('init');
  const ran = await place.assay('run', 'run.yaml', '--run-id', 'first');
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(ran.stdout).toContain('mock:oracle');
  expect(ran.stdout).toMatch(
    /Temporal UI: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/run%2Ffirst/,
  );
  expect(ran.stdout).toContain('Next: assay show first');
  expect(ran.stderr).toContain('completed  24 of 24 cells');

  const listed = await place.assay('list', '--json');
  expect(read(listed.stdout)).toMatchObject({ runs: [{ runId: 'first', state: 'completed' }] });
  const shown = await place.assay('show', 'fir');
  expect(shown.stdout).toContain('24 of 24 recorded');
  const one = await place.assay('show', 'last', 'capital', '--model', 'mock:oracle', '--attempt', '2');
  expect(one.stdout).toContain('What is the capital of Australia?');
  expect(one.stdout).toContain('Canberra');
  expect(one.stdout).toContain('includes: 1.00 pass');
  const several = await place.assay('show', 'last', 'capital', '--json');
  expect(read(several.stdout)['attempts']).toHaveLength(4);

  const path = join(place.folder, 'report.json');
  const written = await place.assay('report', 'last', '--format', 'json', '--output', path);
  expect(written).toMatchObject({ exitCode: 0 });
  expect(read(readFileSync(path, 'utf8'))).toMatchObject({ format: 'assay-report', run: { runId: 'first' } });
  const board = join(place.folder, 'board.md');
  await place.assay('report', 'last', '-o', board);
  expect(readFileSync(board, 'utf8')).toContain('| model |');
});

test('names that are not there are told with what is near', async () => {
  const run = await place.assay('report', 'frist');
  expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('first') });
  const testCase = await place.assay('show', 'first', 'capitol');
  expect(testCase).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('"capital"') });
  const target = await place.assay('report', 'first', '--output', join(place.folder, 'no', 'such', 'folder'));
  expect(target).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('its folder does not exist'),
  });
  const nothingLeft = await place.assay('resume', 'first');
  expect(nothingLeft).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Nothing is left to run'),
  });
});

test('a gate that is not met ends with 100 and is named in the one document', async () => {
  writeFileSync(
    join(place.folder, 'gated.yaml'),
    readFileSync(join(place.folder, 'run.yaml'), 'utf8') + '\ngates: { minPassRate: 0.99 }\n',
  );
  const gated = await place.assay('run', 'gated.yaml', '--json');
  expect(gated.exitCode).toBe(100);
  const exitReasons = [expect.stringContaining('minPassRate')];
  expect(read(gated.stdout)).toMatchObject({ state: 'completed', exitCode: 100, exitReasons });
});

test('a run is held against thresholds and the run before it, and two runs against each other', async () => {
  const summary = join(place.folder, 'summary.md');
  const gate = await place.assay(
    'gate',
    'last',
    '--min-pass-rate',
    '0',
    '--baseline',
    'last',
    '--summary',
    summary,
  );
  expect(gate).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('gate passed') });
  expect(gate.stdout).toContain('first →');
  expect(readFileSync(summary, 'utf8')).toContain('# ✅ Gate passed');
  const failed = await place.assay('gate', 'first', '--min-mean', '1', '--json');
  expect(failed.exitCode).toBe(100);
  expect(read(failed.stdout)).toMatchObject({ exitCode: 100, baseline: null });

  const compared = await place.assay('compare', 'first', 'last', '--json');
  const pairs = read(compared.stdout)['pairs'] as { verdict: string; cases: number }[];
  expect(pairs.map(({ verdict, cases }) => [verdict, cases])).toEqual([
    ['not_separated', 6],
    ['not_separated', 6],
  ]);
  const models = await place.assay('compare', 'first');
  expect(models).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('6 shared cases') });
  const whatIf = await place.assay('report', 'first', '--weights', 'accuracy=1,latencyP50=1', '--json');
  expect(JSON.stringify(read(whatIf.stdout))).toContain('"composite":{"value"');
  expect((await place.assay('report', 'first', '--format', 'csv')).stdout).toContain('request,model,case');
});

test('a run whose cost has to be confirmed waits, and every command says what to type', async () => {
  const path = place.writeRunFile({
    ...slowRun,
    models: [{ ...slowRun.models[0], price: { input: 1_000, output: 1_000 } }],
    budgets: { confirmAboveUsd: 0.01 },
  });
  const waiting = await place.assay('run', path, '--run-id', 'unconfirmed');
  expect(waiting).toMatchObject({
    exitCode: 101,
    stdout: expect.stringContaining('Next: assay approve unconfirmed'),
  });
  expect(waiting.stdout).toContain('budgets.confirmAboveUsd is 0.01 USD');
  const detached = await place.assay('run', path, '--run-id', 'refused', '--detach');
  expect(detached.stdout).toContain('Next: assay approve refused');
  expect((await place.assay('show', 'unconfirmed')).stdout).toContain('Next: assay approve unconfirmed');
  expect(await place.assay('unpause', 'unconfirmed')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Cannot unpause run unconfirmed: it waits for approval'),
  });
  const rejected = await place.assay('approve', 'refused', '--reject', '--note', 'too dear');
  expect(rejected).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is rejected') });
  const again = await place.assay('resume', 'refused', '--json');
  expect(again.exitCode).toBe(101);
  expect(read(again.stdout)).toMatchObject({ state: 'awaiting_approval' });
  expect((await place.assay('approve', 'unconfirmed')).stdout).toContain('Next: assay watch unconfirmed');
  expect(await place.assay('cancel', 'unconfirmed')).toMatchObject({ exitCode: 0 });
});

test('a run is paused, given other limits and unpaused while it goes on', async () => {
  const path = place.writeRunFile(slowRun);
  await place.assay('run', path, '--run-id', 'steered', '--detach');
  const paused = await place.assay('pause', 'steered', '--note', 'a look');
  expect(paused).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Next: assay unpause steered'),
  });
  const shown = (await place.assay('show', 'steered')).stdout;
  expect(shown).toMatch(/State +paused: paused by .*: a look/);
  const set = await place.assay('set', 'steered', 'taskConcurrency=32', 'slots.mock=auto', '--json');
  expect(read(set.stdout)).toMatchObject({ changes: [{ limit: 'taskConcurrency', to: '32' }] });
  expect((await place.assay('unpause', 'steered')).stdout).toContain('goes on');
  expect(await place.assay('watch', 'steered')).toMatchObject({ exitCode: 0 });
  expect((await place.assay('show', 'steered')).stdout).toContain('taskConcurrency 2 -> 32');
});

test('the first Ctrl-C cancels with cleanup and ends with 130; resume completes the run', async () => {
  const path = place.writeRunFile(slowRun);
  const command = place.start('run', path, '--run-id', 'stopped');
  await waitForLine(command, /running {2}[1-9]\d* of 40/);
  command.process.kill('SIGINT');
  const { exitCode, stderr, stdout } = await command.ended;
  expect(exitCode).toBe(130);
  expect(stderr).toContain('waiting for cleanup');
  expect(stdout).toContain('Next: assay resume stopped');
  const resumed = await place.assay('resume', 'stopped');
  expect(resumed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('40 of 40') });
});

test('AC-L8 a second Ctrl-C leaves at once, and the run is cancelled all the same', async () => {
  const command = place.start('run', place.writeRunFile(slowRun), '--run-id', 'left');
  await waitForLine(command, /running/);
  command.process.kill('SIGINT');
  await waitForLine(command, /waiting for cleanup/);
  command.process.kill('SIGINT');
  expect((await command.ended).exitCode).toBe(130);
  expect(await place.assay('watch', 'left')).toMatchObject({ exitCode: 130 });
});

test('a detached run goes on by itself, is attached to by its id, and is cancelled by another command', async () => {
  const path = place.writeRunFile(slowRun);
  const detached = await place.assay('run', path, '--run-id', 'alone', '--detach', '--json');
  expect(detached).toMatchObject({ exitCode: 0 });
  expect(read(detached.stdout)).toMatchObject({ runId: 'alone', attached: false });
  const again = await place.assay('run', path, '--run-id', 'alone', '--detach', '--json');
  expect(read(again.stdout)).toMatchObject({ runId: 'alone', attached: true });
  const cancelled = await place.assay('cancel', 'alone', '--json');
  expect(read(cancelled.stdout)).toEqual({ runId: 'alone', state: 'cancelled', cancelled: true });
  expect(await place.assay('run', path, '--run-id', 'alone')).toMatchObject({ exitCode: 130 });
});

test('a run takes the cells of another, says so, and its answers are scored again', async () => {
  const ran = await place.assay('run', 'run.yaml', '--run-id', 'taken', '--reuse', 'first');
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(ran.stdout).toContain('24 cells were taken from run first');
  expect((await place.assay('show', 'taken')).stdout).toMatch(/^Reused +24 cells were taken from run first/m);
  const unknown = await place.assay('run', 'run.yaml', '--reuse', 'nobody');
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nobody') });
  const scored = await place.assay('score', 'first', '--scorer', 'exact');
  expect(scored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('24 of 24') });
});

test('doctor finds everything well, and down leaves no process', async () => {
  expect(await place.assay('doctor')).toMatchObject({ exitCode: 0 });
  expect(await place.assay('down')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('worker') });
  expect(findProcesses(place.dataDir)).toEqual([]);
});
