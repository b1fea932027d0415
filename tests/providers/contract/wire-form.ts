import type { JsonObject } from '../../../src/domain/json.ts';
import type { SeenRequest } from '../http-server.ts';

/** What the model of a scene says, whatever the API. */
export type Said = {
  readonly text?: string;
  readonly thought?: string;
  /** `arguments` is the text that the model wrote. */
  readonly tools?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish?: 'stop' | 'length' | 'filter';
  /** Null = the server counts nothing. */
  readonly counts?: Counts | null;
};

export type Counts = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly reasoning: number;
};

/** One event of a stream; `event` is the name that some APIs send beside the data. */
export type WireEvent = { readonly event?: string; readonly data: unknown };

/** A failure as an API really sends it, and what it must be taken for. */
export type WireFailure = {
  readonly name: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly expect: {
    readonly class: string;
    readonly retryable: boolean;
    /** Least and most, since some waits are dates. */
    readonly retryAfterMs?: readonly [number, number];
  };
};

/** How one API speaks, so that one suite runs for all of them. */
export type WireForm = {
  readonly name: string;
  readonly kind: string;
  readonly model: string;
  readonly params: JsonObject;
  readonly toAnswer: (said: Said) => unknown;
  readonly toEvents: (said: Said) => readonly WireEvent[];
  /** An overload that is announced in the middle of a stream. */
  readonly overload: { readonly event: WireEvent; readonly message: RegExp };
  /** Which counts the API's usage can say. */
  readonly counts: { readonly cacheRead: boolean; readonly reasoning: boolean };
  /** Thoughts that were sent with a mark must come back as `toReturned` says, with the next request. */
  readonly thinks: boolean;
  /** What the second request of an agent's loop must hold: the answer and the result of its tool. */
  readonly readTurn: (seen: SeenRequest) => unknown;
  readonly turn: unknown;
  readonly readKey: (seen: SeenRequest) => unknown;
  readonly failures: readonly WireFailure[];
};

export const toCounts = (said: Said): Counts | null =>
  said.counts === undefined ? { input: 9, output: 7, cacheRead: 0, reasoning: 0 } : said.counts;

/** Halves of a text, as a stream brings it. */
export const halves = (text: string): readonly [string, string] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
};
