import { RequestError } from './chat-request.ts';

/** Lets one piece of work run at a time, in the order of arrival, and refuses more than may wait. */
export class Turns {
  readonly #maxWaiting: number;
  #open = 0;
  /** Settles when everything that came so far is done. */
  #last: Promise<void> = Promise.resolve();

  constructor({ maxWaiting }: { readonly maxWaiting: number }) {
    this.#maxWaiting = maxWaiting;
  }

  /** How many wait or run. */
  get open(): number {
    return this.#open;
  }

  /** Rejects with status 429 when too many wait, and with the signal's reason when that fires before the turn. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#open > this.#maxWaiting) {
      const message = `${this.#open} requests wait already; try again later`;
      throw new RequestError(message, { status: 429, code: 'rate_limit_exceeded' });
    }
    this.#open += 1;
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = done.promise;
    try {
      await untilAborted(before, signal);
      return await work();
    } finally {
      this.#open -= 1;
      void before.then(() => done.resolve());
    }
  }
}

async function untilAborted(waited: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  signal.throwIfAborted();
  await Promise.race([waited, aborted]);
}
