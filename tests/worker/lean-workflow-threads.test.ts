import { fileURLToPath } from 'node:url';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const preload = fileURLToPath(new URL('../../src/worker/lean-workflow-threads.ts', import.meta.url));

/** What a thread of a worker process finds: whether a script with a time-out is ended, and promises are hooked. */
const probe = `
  const vm = require('node:vm');
  const { promiseHooks } = require('node:v8');
  const { parentPort } = require('node:worker_threads');
  const loop = new vm.Script('const end = Date.now() + 300; while (Date.now() < end); "ended by itself"');
  let ended;
  try { ended = loop.runInContext(vm.createContext({ Date }), { timeout: 20, displayErrors: true }); }
  catch (error) { ended = error.code; }
  let hooked = 0;
  const stop = promiseHooks.createHook({ init: () => { hooked += 1; } });
  Promise.resolve(1).then(() => 2);
  stop();
  parentPort.postMessage({ ended, hooked: hooked > 0 });
`;

async function ask(env: NodeJS.ProcessEnv): Promise<unknown> {
  const thread = new Worker(probe, { eval: true, execArgv: ['--require', preload], env });
  const [answer] = (await once(thread, 'message')) as [unknown];
  await thread.terminate();
  return answer;
}

test('threads of a worker enter workflow code without a timer and hook no promises', async () => {
  expect(await ask({})).toEqual({ ended: 'ended by itself', hooked: false });
});

test('ASSAY_DEBUG=1 keeps the aids of the SDK', async () => {
  expect(await ask({ ASSAY_DEBUG: '1' })).toEqual({
    ended: 'ERR_SCRIPT_EXECUTION_TIMEOUT',
    hooked: true,
  });
});
