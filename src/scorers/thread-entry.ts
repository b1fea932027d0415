import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer, ThreadMessage, ThreadTask } from './killable-thread.ts';

/** The thread behind `runInThread`: takes tasks, says when it starts one, answers. */

const send = (message: ThreadMessage): void => parentPort?.postMessage(message);

parentPort?.on('message', (task: ThreadTask) => {
  void answer(task);
});

async function answer(task: ThreadTask): Promise<void> {
  try {
    send(task.kind === 'regex' ? match(task) : await validate(task));
  } catch (error) {
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

function match(task: Extract<ThreadTask, { kind: 'regex' }>): ThreadAnswer {
  const pattern = new RegExp(task.pattern, task.flags);
  send('started');
  return { kind: 'match', match: pattern.exec(task.text)?.[0].slice(0, 200) ?? null };
}

/** Loads the validator on first use: most threads only ever match patterns. */
async function validate(task: Extract<ThreadTask, { kind: 'schema' }>): Promise<ThreadAnswer> {
  const { listSchemaErrors, toValidator } = await import('./json-schema.ts');
  const validator = toValidator(task.schema);
  send('started');
  return { kind: 'errors', errors: listSchemaErrors(validator, task.value) };
}
