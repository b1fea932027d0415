import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { CallTimeouts } from '../domain/run.ts';
import { CallTimers } from './call-timers.ts';
import { createFault } from './provider-error.ts';

export type ExchangeRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: { readonly [name: string]: string };
  readonly body: string | null;
  readonly timeouts: CallTimeouts & { readonly totalMs: number };
  readonly signal: AbortSignal;
  /** Chooses who reads the body; without one the whole text is collected. */
  readonly onHead?: (head: ExchangeHead) => BodyReader | null;
};

export type ExchangeHead = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
};

/** Reads a body as it comes. */
export interface BodyReader {
  /** Returns true when the answer is complete, whatever still follows. */
  push(chunk: Buffer): boolean;
  /** Where it hands on what it reads: resolves when more can be taken; null = more can be taken now. */
  readonly untilTaken?: () => Promise<void> | null;
}

export type ExchangeAnswer = ExchangeHead & {
  /** Empty when a reader took the body. */
  readonly body: string;
};

/** Larger answers are refused. */
export const BODY_LIMIT_BYTES = 64 * 1024 * 1024;
/** How long a complete stream may take to end by itself, so that its connection can be used again. */
const DRAIN_MS = 50;

/** One pool for all providers: every timer is the exchange's own, the pool's are only a net below them. */
const agent = new Agent({ connect: { timeout: 120_000 }, headersTimeout: 0, bodyTimeout: 0 });

/**
 * Sends one HTTP request and reads its whole answer, whatever the status; follows no redirect.
 * Rejects with the signal's reason when aborted, with a `CallFault` of class `time_out` that names the
 * timer, its limit and the time measured, else with the connection's own error.
 */
export async function exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
  if (request.signal.aborted) throw toReason(request.signal);
  const url = new URL(request.url);
  const { promise, resolve, reject } = Promise.withResolvers<ExchangeAnswer>();
  const call = new ExchangeCall(request, { resolve, reject });
  agent.dispatch(
    {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    call,
  );
  return promise;
}

const toReason = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('The call was aborted', 'AbortError');

type Settle = {
  readonly resolve: (answer: ExchangeAnswer) => void;
  readonly reject: (error: unknown) => void;
};

/** One request on the wire: dispatch handler, timers and the collected body. */
class ExchangeCall implements Dispatcher.DispatchHandler {
  readonly #request: ExchangeRequest;
  readonly #settle: Settle;
  readonly #timers: CallTimers;
  readonly #onAbort: () => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #ended: Error | null = null;
  #head: ExchangeHead | null = null;
  #reader: BodyReader | null = null;
  #bytes = 0;
  /** Set when the reader has all that it needs. */
  #drain: NodeJS.Timeout | null = null;

  constructor(request: ExchangeRequest, settle: Settle) {
    this.#request = request;
    this.#settle = settle;
    this.#timers = new CallTimers(request.timeouts, (error) => this.#fail(error));
    this.#onAbort = () => this.#fail(toReason(request.signal));
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#timers.start();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended !== null) controller.abort(this.#ended);
    else this.#timers.sent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: { [name: string]: string | string[] | undefined },
  ): void {
    if (status < 200 || this.#ended !== null) return;
    this.#timers.answered();
    this.#head = { status, headers: toHeaders(headers) };
    const encoding = this.#head.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') return this.#fail(toEncodingFault(encoding));
    this.#reader = this.#request.onHead?.(this.#head) ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended !== null) return;
    this.#timers.moved();
    this.#bytes += chunk.length;
    if (this.#bytes > BODY_LIMIT_BYTES) return this.#fail(toSizeFault());
    if (this.#reader === null) this.#chunks.push(chunk);
    else this.#read(this.#reader, chunk);
    const taken = this.#reader?.untilTaken?.() ?? null;
    if (taken !== null) this.#restUntil(taken, controller);
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** The provider waits too; that is not its own slowness. The time for the whole answer goes on. */
  #restUntil(taken: Promise<void>, controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#timers.rest();
    void taken.then(() => {
      if (this.#ended !== null) return;
      this.#timers.answered();
      controller.resume();
    });
  }

  #read(reader: BodyReader, chunk: Buffer): void {
    try {
      if (!reader.push(chunk)) return;
    } catch (error) {
      return this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
    this.#drain ??= setTimeout(() => {
      this.#finish();
      this.#controller?.abort(new Error('the answer is complete'));
    }, DRAIN_MS);
  }

  #finish(): void {
    if (this.#ended !== null || this.#head === null) return;
    this.#close(new Error('the answer is complete'));
    const body = this.#chunks.length === 0 ? '' : new TextDecoder().decode(Buffer.concat(this.#chunks));
    this.#settle.resolve({ ...this.#head, body });
  }

  #fail(error: Error): void {
    if (this.#ended !== null) return;
    if (this.#drain !== null) return this.#finish();
    this.#close(error);
    this.#controller?.abort(error);
    this.#settle.reject(error);
  }

  #close(reason: Error): void {
    this.#ended = reason;
    this.#timers.stop();
    if (this.#drain !== null) clearTimeout(this.#drain);
    this.#request.signal.removeEventListener('abort', this.#onAbort);
  }
}

function toHeaders(headers: { [name: string]: string | string[] | undefined }): { [name: string]: string } {
  const plain: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

const toEncodingFault = (encoding: string): Error =>
  createFault({
    class: 'bad_answer',
    retryable: false,
    message: `the answer came with content-encoding "${encoding}" although only "identity" was accepted`,
  });

const toSizeFault = (): Error =>
  createFault({
    class: 'bad_answer',
    retryable: false,
    message: `the answer is larger than ${BODY_LIMIT_BYTES / 1024 / 1024} MiB`,
  });
