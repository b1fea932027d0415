import { Worker } from 'node:worker_threads';

/** Work that a hostile pattern could keep busy for ever. */
export type ThreadTask =
  | { readonly kind: 'regex'; readonly pattern: string; readonly flags: string; readonly text: string }
  | { readonly kind: 'schema'; readonly schema: object; readonly value: unknown };

/** `match`: what the pattern found, null = nothing. `errors`: what the schema says, none = valid. */
export type ThreadAnswer =
  | { readonly kind: 'match'; readonly match: string | null }
  | { readonly kind: 'errors'; readonly errors: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string };

export type ThreadMessage = 'started' | ThreadAnswer;

/** The task ran longer than its limit and was ended. */
export class ThreadTimeoutError extends Error {
  override name = 'ThreadTimeoutError';
}

const TASK_LIMIT_MS = 1_000;
const START_LIMIT_MS = 30_000;

let idleThread: Worker | null = null;
let queue: Promise<unknown> = Promise.resolve();

/**
 * Runs one task on a thread that is killed after a second of work; tasks run one after another.
 * The thread is kept for the next task and never holds the process open.
 * @throws ThreadTimeoutError when the second is over.
 */
export function runInThread(task: ThreadTask, signal: AbortSignal): Promise<ThreadAnswer> {
  const result = queue.then(() => {
    signal.throwIfAborted();
    return runNow(task, signal);
  });
  queue = result.catch(() => null);
  return result;
}

async function runNow(task: ThreadTask, signal: AbortSignal): Promise<ThreadAnswer> {
  const thread = idleThread ?? createThread();
  idleThread = null;
  thread.ref();
  try {
    const answer = await exchange({ thread, task, signal });
    thread.unref();
    idleThread = thread;
    return answer;
  } catch (error) {
    await thread.terminate();
    throw error;
  }
}

function createThread(): Worker {
  // The published package holds JavaScript under the same name.
  const isSource = import.meta.url.endsWith('.ts');
  const entry = isSource
    ? new URL('./thread-entry.ts', import.meta.url)
    : new URL('./thread-entry.js', import.meta.url);
  const thread = new Worker(entry, { execArgv: [], env: {} });
  // An idle thread that breaks must not take the process with it; one at work reports through its exchange.
  thread.on('error', () => null);
  thread.on('exit', () => {
    if (idleThread === thread) idleThread = null;
  });
  return thread;
}

type Exchange = { readonly thread: Worker; readonly task: ThreadTask; readonly signal: AbortSignal };

/** The second counts from the moment the thread has the task, so that a slow start is not the pattern's fault. */
function exchange({ thread, task, signal }: Exchange): Promise<ThreadAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>();
  const startTimer = setTimeout(() => {
    reject(new Error(`the scoring thread did not start in ${START_LIMIT_MS / 1000} s`));
  }, START_LIMIT_MS);
  let taskTimer: NodeJS.Timeout | undefined;
  const onMessage = (message: ThreadMessage): void => {
    if (message !== 'started') return resolve(message);
    clearTimeout(startTimer);
    taskTimer = setTimeout(() => {
      reject(new ThreadTimeoutError(`took longer than ${TASK_LIMIT_MS / 1000} s and was ended`));
    }, TASK_LIMIT_MS);
  };
  const onAbort = (): void => reject(signal.reason);
  const onExit = (): void => reject(new Error('the scoring thread ended while it worked'));
  thread.on('message', onMessage).once('error', reject).once('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  thread.postMessage(task);
  return promise.finally(() => {
    clearTimeout(startTimer);
    clearTimeout(taskTimer);
    signal.removeEventListener('abort', onAbort);
    thread.off('message', onMessage).off('error', reject).off('exit', onExit);
  });
}
