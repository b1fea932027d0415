import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun } from '../../src/config/load.ts';
import { createWorkplace } from './run-assay.ts';

const workplace = createWorkplace();
const { assay, assayWith, folder } = workplace;

beforeAll(async () => {
  await assay('init');
}, 60_000);
afterAll(() => workplace.remove());

// Each starts a real process, which takes its time on a busy machine.
describe('the command line', { timeout: 60_000 }, () => {
  test('init writes a run file that loads, and prints the next command', async () => {
    const path = join(folder, 'run.yaml');
    const loaded = await loadRun({ source: { kind: 'file', path }, catalog: createBuiltInCatalog() });
    expect(loaded.spec.requests).toHaveLength(1);
    const { stdout } = await assay('init', 'other');
    expect(stdout).toContain('Next: assay run other/run.yaml');
  });

  test('init refuses to overwrite and says which file is there', async () => {
    const before = readFileSync(join(folder, 'run.yaml'), 'utf8');
    const { exitCode, stderr, stdout } = await assay('init');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('run.yaml');
    expect(readFileSync(join(folder, 'run.yaml'), 'utf8')).toBe(before);
  });

  test('a dry run prints matrix and estimate and needs no stack', async () => {
    const { exitCode, stdout } = await assay(
      'run',
      'run.yaml',
      '--dry-run',
      '--attempts',
      '3',
      '--limit',
      '2',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('first-run: 12 cells (1 request, 2 models)');
    expect(stdout).toContain('Next: assay run run.yaml --attempts 3 --limit 2');
    expect(existsSync(join(folder, '.assay'))).toBe(false);
  });

  test('--json prints one document and nothing else on standard output', async () => {
    const { exitCode, stdout } = await assay(
      'run',
      'run.yaml',
      '--dry-run',
      '--json',
      '--model',
      'mock:oracle',
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'first-run', estimate: { cells: 12, costUsd: 0 } });
  });

  test('an endpoint replaces the models, and a missing key is told', async () => {
    const { exitCode, stdout } = await assay(
      ...'run run.yaml --dry-run --endpoint http://127.0.0.1:9/v1 --endpoint-model small'.split(' '),
      '--endpoint-key-env=ASSAY_TEST_UNSET_KEY',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Would be skipped: small: the variable ASSAY_TEST_UNSET_KEY is not set');
    expect(stdout).not.toContain('mock:oracle');
  });

  test('every problem of a run file is told with its place, without a stack trace', async () => {
    writeFileSync(
      join(folder, 'wrong.yaml'),
      'nam: x\nmodels: [mock:oracle]\nsuite: ./questions.suite.yaml\nattempts: { k: no }\n',
    );
    const { exitCode, stderr, stdout } = await assay('run', 'wrong.yaml', '--dry-run');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('wrong.yaml:1:1');
    expect(stderr).toContain('Did you mean "name"?');
    expect(stderr).toContain('wrong.yaml:4');
    expect(stderr).not.toMatch(/\n\s+at .*:\d+:\d+\)?\n/);
  });

  test('with --json an error is the one document', async () => {
    const { exitCode, stdout } = await assay('run', 'missing.yaml', '--dry-run', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'config', problems: [{ file: 'missing.yaml' }] },
    });
  });

  test.each([
    [['rum'], 'Did you mean run?'],
    [['run'], "missing required argument 'file'"],
    [['run', 'run.yaml', '--limit', 'x'], 'expected a whole number of at least 1'],
    [['run', 'run.yaml', '--limit', '0'], 'expected a whole number of at least 1'],
    [['run', 'run.yaml', '--max-usd', '-1'], 'expected an amount in USD'],
    [['run', 'run.yaml', '--endpoint-model', 'x'], '--endpoint'],
    [['run', 'run.yaml', '--endpoint', 'localhost'], 'no http or https address'],
    [['run', 'run.yaml', '--run-id', 'a b'], 'cannot be a run id'],
    [['run', 'run.yaml', '--case', 'nothing-like-this', '--dry-run'], 'leaves no case'],
    [['report', 'x', '--format', 'pdf'], 'table, markdown, json'],
    [['schema', 'plan'], 'run, suite, report'],
  ])('assay %j is refused with exit code 1', async (args, message) => {
    const { exitCode, stderr, stdout } = await assay(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('schema prints a JSON Schema', async () => {
    const { exitCode, stdout } = await assay('schema', 'run', '--no-color');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Assay run file' });
  });

  test('help and version end with 0', async () => {
    expect(await assay('--version')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    const { exitCode, stdout } = await assay();
    expect(exitCode).toBe(0);
    for (const name of 'init run watch list show cancel resume report up down worker doctor schema'.split(
      ' ',
    )) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
  });

  test('an unreachable Postgres is one clear message', async () => {
    const variables = {
      ASSAY_DIR: 'unreachable',
      DATABASE_URL: 'postgres://assay:secret-word@127.0.0.1:9/assay',
    };
    const { exitCode, stderr, stdout } = await assayWith(variables, 'list');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('127.0.0.1:9');
    expect(stderr).not.toContain('secret-word');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('a data folder that cannot be made is one clear message', async () => {
    const { exitCode, stderr } = await assayWith({ ASSAY_DIR: '/dev/null/assay' }, 'up');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('/dev/null/assay');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('where no run has ever been, looking for one starts nothing', async () => {
    expect(await assay('list')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('no runs yet'),
    });
    expect(await assay('report', 'last')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('assay run FILE'),
    });
    expect(existsSync(join(folder, '.assay'))).toBe(false);
  });

  test('doctor looks at things and starts nothing', async () => {
    const { stdout } = await assay('doctor', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'node', ok: true })]),
    });
    expect(existsSync(join(folder, '.assay'))).toBe(false);
  });
});
