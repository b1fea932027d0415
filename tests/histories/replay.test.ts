import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { replay, type RecordedHistory } from './replay.ts';

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
});

const folder = fileURLToPath(new URL('recorded', import.meta.url));
const recorded = readdirSync(folder).map((file): RecordedHistory =>
  JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')),
);

async function findErrors(histories: readonly RecordedHistory[]): Promise<{ [name: string]: string | null }> {
  const errors: { [name: string]: string | null } = {};
  for await (const { name, error } of replay(histories)) errors[name] = error;
  return errors;
}

test('workflow code of today follows every recorded history', async () => {
  expect(await findErrors(recorded)).toEqual(Object.fromEntries(recorded.map(({ name }) => [name, null])));
}, 60_000);

test('there are histories of every workflow, with the flags without which types would not be compared', () => {
  const kinds = new Set(recorded.map(({ name }) => name.replace(/-.*/, '')));
  expect(kinds).toEqual(new Set(['run', 'task', 'attempt']));
  const unflagged = recorded.filter(({ history }) => !JSON.stringify(history).includes('"coreUsedFlags"'));
  expect(unflagged.map(({ name }) => name)).toEqual([]);
});

test('a history whose activity has another type does not fit', async () => {
  const changed = recorded
    .filter(({ name }) => name === 'attempt-agent' || name === 'run-heavy')
    .map((one): RecordedHistory => {
      const text = JSON.stringify(one.history).replaceAll('"name":"openSession"', '"name":"openEnvironment"');
      return { ...one, history: JSON.parse(text.replaceAll('"name":"prepare"', '"name":"plan"')) };
    });
  expect(await findErrors(changed)).toEqual({
    'attempt-agent': expect.stringContaining('openEnvironment'),
    'run-heavy': expect.stringContaining('plan'),
  });
}, 30_000);
