import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findProcesses } from '../crash/processes.ts';
import { createWorkplace, type Workplace } from '../crash/workplace.ts';
import { openTemporalUi, type TemporalUi } from './temporal-ui.ts';

/** Set by `npm test`, which finds a Chromium or installs one. */
const chromium = process.env['ASSAY_TEST_CHROMIUM'];
if (chromium === undefined) {
  console.log('SKIPPED: the Temporal UI in a browser. ASSAY_TEST_CHROMIUM names no Chromium.');
}
const project = fileURLToPath(new URL('../..', import.meta.url));

let place: Workplace;
let ui: TemporalUi;
beforeAll(async () => {
  if (chromium === undefined) return;
  place = await createWorkplace([1, 2]);
  const runFile = copySlowQuickstart(place.folder);
  const address = new URL(await startRun(runFile, 'look', '--concurrency', '4'));
  await startRun(runFile, 'shared', '--request', 'questions', '--concurrency', '2');
  ui = await openTemporalUi(chromium, address.origin);
});
afterAll(async () => {
  if (chromium === undefined) return;
  await ui?.[Symbol.asyncDispose]();
  await place.remove();
  if (findProcesses(place.dataDir).length > 0) throw new Error('processes of the stack are left');
});

/** The quickstart with models that take their time, so that there is something to look at. */
function copySlowQuickstart(folder: string): string {
  cpSync(join(project, 'examples/quickstart'), folder, { recursive: true });
  const path = join(folder, 'run.yaml');
  const slow = readFileSync(path, 'utf8').replaceAll(/latencyMs: \[\d+, \d+\]/g, 'latencyMs: [3000, 4000]');
  writeFileSync(path, slow);
  return path;
}

/** Starts a small run and returns its address in the UI. */
async function startRun(runFile: string, runId: string, ...options: readonly string[]): Promise<string> {
  const size = ['--limit', '2', '--attempts', '2', ...options];
  const { stdout, stderr } = await place.assay(
    'run',
    runFile,
    '--run-id',
    runId,
    '--detach',
    '--json',
    ...size,
  );
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { readonly temporalUrl: string }).temporalUrl;
}

/** With ASSAY_PICTURES=1 the pictures of the documentation are taken again. */
async function takePicture(name: string): Promise<void> {
  if (process.env['ASSAY_PICTURES'] !== '1') return;
  await ui.page.screenshot({ path: join(project, 'docs', name) });
}

test.skipIf(chromium === undefined)(
  'a run that goes on tells its progress, and leads to its tasks and their attempts by readable ids',
  async () => {
    await ui.open('run/look');
    await ui.find('shell: quick on failed-logins, 2 attempts');
    await takePicture('temporal-ui-run.png');
    expect(await ui.readDetails(/Running: \d+ of 24 cells \(\d+ %\)/)).toMatch(
      /2 requests x 3 models · \d task workflows? open/,
    );

    const task = 'run/look/shell/quick/failed-logins';
    await ui.openTab('Relationships');
    await ui.follow(task);
    await ui.find('attempt 1 of 2: quick on failed-logins');
    await ui.find('attempt 2 of 2: quick on failed-logins');
    await ui.openTab('Relationships');
    await ui.page.getByText('Expand All').click();
    await ui.follow(`${task}/a1`);
    await ui.page
      .getByRole('link', { name: task.slice(0, 20) })
      .first()
      .waitFor();

    await ui.find('quick · failed-logins · attempt 1 · step 1');
    await ui.find('step 1 · bash: grep');
    await ui.find('quick · failed-logins · attempt 1 · step 2');
    await ui.find('grade in the session');
    await ui.page.getByText('callModel').last().scrollIntoViewIfNeeded();
    await takePicture('temporal-ui-attempt.png');
    // The outcome is there when the attempt has ended, and a page that is open does not read it again.
    await place.assay('watch', 'look');
    await ui.open(`${task}/a1`);
    await ui.openTab('Search Attributes');
    for (const name of ['Run', 'Request', 'Model', 'Case', 'Outcome']) await ui.find(`"Assay${name}"`);
    expect(ui.complaints).toEqual([]);
  },
  240_000,
);

test.skipIf(chromium === undefined)(
  'tasks that share a workflow show every call with its summary, and a filter finds their ended run',
  async () => {
    await place.assay('watch', 'shared');
    const pack = 'run/shared/questions/tasks/1-6';
    await ui.open(pack);
    expect(await ui.readDetails('12 of 12 attempts')).toMatch(/12 scored · \d+ passed/);
    await ui.openTab('Event History');
    for (const model of ['careful', 'quick', 'sloppy']) {
      for (const testCase of ['tungsten', 'capital-australia']) {
        await ui.find(`${model} · ${testCase} · attempt 1`);
        await ui.find(`${model} · ${testCase} · attempt 2`);
      }
    }

    expect((await ui.list("AssayRun = 'shared'")).toSorted()).toEqual(['run/shared', pack]);
    await ui.follow('run/shared');
    const details = await ui.readDetails('Completed: 12 of 12 cells · 12 scored');
    expect(details).toContain('assay report shared');
    expect(ui.complaints).toEqual([]);
  },
);
