import type { CallTimeouts } from '../domain/run.ts';
import { createFault } from './provider-error.ts';

type TimerName = 'connect' | 'first byte' | 'idle' | 'total';

const WAITED_FOR: { readonly [name in TimerName]: string } = {
  connect: 'a connection',
  'first byte': "the answer's first byte",
  idle: "the answer's next bytes",
  total: 'the whole answer',
};

/** Longest delay that a timer of Node holds; above it there is no limit. */
export const TIMER_LIMIT_MS = 2 ** 31 - 1;

/**
 * The four time-outs of one call: connect (until the request goes out), first byte (until the answer
 * starts), idle (between two chunks) and total. The first that fires is reported once.
 */
export class CallTimers {
  readonly #limits: CallTimeouts & { readonly totalMs: number };
  readonly #onExpired: (error: Error) => void;
  readonly #startedAt = performance.now();
  #phaseAt = this.#startedAt;
  #total: NodeJS.Timeout | undefined;
  #phase: NodeJS.Timeout | undefined;

  constructor(limits: CallTimeouts & { readonly totalMs: number }, onExpired: (error: Error) => void) {
    this.#limits = limits;
    this.#onExpired = onExpired;
  }

  start(): void {
    this.#total = this.#arm('total', this.#limits.totalMs);
    this.#phase = this.#arm('connect', this.#limits.connectMs);
  }

  /** The connection stands and the request goes out. */
  sent(): void {
    this.#next('first byte', this.#limits.firstByteMs);
  }

  /** Status and headers are there. */
  answered(): void {
    this.#next('idle', this.#limits.idleMs);
  }

  moved(): void {
    this.#phaseAt = performance.now();
    this.#phase?.refresh();
  }

  /** Nothing is waited for until `answered` is told again. */
  rest(): void {
    clearTimeout(this.#phase);
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#phase);
  }

  #next(name: TimerName, limitMs: number): void {
    clearTimeout(this.#phase);
    this.#phaseAt = performance.now();
    this.#phase = this.#arm(name, limitMs);
  }

  #arm(name: TimerName, limitMs: number): NodeJS.Timeout | undefined {
    if (limitMs > TIMER_LIMIT_MS) return undefined;
    return setTimeout(() => {
      const since = name === 'total' ? this.#startedAt : this.#phaseAt;
      this.#onExpired(toTimeOutFault(name, limitMs, performance.now() - since));
    }, limitMs);
  }
}

/** Says which timer, its limit, the time measured and the phase. */
export const toTimeOutFault = (name: TimerName, limitMs: number, measuredMs: number): Error =>
  createFault({
    class: 'time_out',
    retryable: true,
    message:
      `time-out while calling the model: timer "${name}", limit ${limitMs} ms, measured ` +
      `${Math.round(measuredMs)} ms, phase run, waiting for ${WAITED_FOR[name]}`,
  });
