import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { LauncherRequest } from '../../src/environments/launcher-messages.ts';
import { makeDirectory } from './test-session.ts';

test('a launcher whose worker has died ends with a command that was asked for, instead of waiting for a reader', async () => {
  const root = await makeDirectory();
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const launcher = fork(fileURLToPath(new URL('../../src/environments/launcher-entry.ts', import.meta.url)), {
    execArgv: [],
  });
  onTestFinished(() => void launcher.kill('SIGKILL'));
  const launch = { root, bootId: 'b', argv: ['touch', join(root, 'ran')], cwd: root, variables: {} };
  const request: LauncherRequest = {
    id: 1,
    kind: 'launch',
    launch: { ...launch, stdinPath: null, outputPaths: [pipe, pipe] },
  };
  launcher.send(request);
  const [answer] = (await once(launcher, 'message')) as [unknown];
  expect(answer).toMatchObject({ id: 1, kind: 'failed', message: expect.stringContaining('ENXIO') });
  launcher.disconnect();
  await once(launcher, 'exit');
}, 60_000);
