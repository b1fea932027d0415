import type { ServerResponse } from 'node:http';
import { EventStream, type StreamFolder } from '../providers/event-stream.ts';
import type { BodyReader, ExchangeHead } from '../providers/exchange.ts';
import { CountsFilter } from './hide-counts.ts';

/** Headers of an answer that are about its own connection, or that an agent has no use for. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'alt-svc',
]);

/** Node sends no other characters (RFC 9110, 5.5). */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const toAgentHeaders = (headers: ExchangeHead['headers']): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !OWN.has(name) && SENDABLE.test(value)),
  );

/** Hands a good answer on to the agent as it comes, and reads it on the way. */
export class PassThrough implements BodyReader {
  readonly #response: ServerResponse;
  readonly #stream: EventStream | null;
  readonly #filter: CountsFilter | null;
  readonly #chunks: Buffer[] = [];
  #fault: unknown = null;

  constructor(
    response: ServerResponse,
    head: ExchangeHead,
    reading: { readonly createFolder: () => StreamFolder; readonly hidesCounts: boolean },
  ) {
    const isStream = (head.headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
    this.#response = response;
    this.#stream = isStream ? new EventStream(reading.createFolder()) : null;
    this.#filter = isStream && reading.hidesCounts ? new CountsFilter() : null;
    response.writeHead(head.status, toAgentHeaders(head.headers));
    response.flushHeaders();
  }

  push(chunk: Buffer): boolean {
    this.#write(this.#filter === null ? chunk : this.#filter.push(chunk));
    if (this.#stream === null) {
      this.#chunks.push(chunk);
      return false;
    }
    if (this.#fault !== null) return false;
    try {
      return this.#stream.push(chunk);
    } catch (error) {
      // The agent gets what came all the same; the row is settled with what was wrong with it.
      this.#fault = error;
      return false;
    }
  }

  /** An agent that reads slowly holds the provider back, not this process's memory. */
  readonly untilTaken = (): Promise<void> | null => {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
    return promise;
  };

  /** Whether the model's part of a stream is complete, whatever becomes of the connection. */
  get isFinished(): boolean {
    return this.#fault === null && this.#stream?.isFinished === true;
  }

  /** The whole answer's body. Throws a `CallFault` when a stream stopped early or made no sense. */
  end(): string {
    if (this.#filter !== null) this.#write(this.#filter.end());
    if (this.#fault !== null) throw this.#fault;
    if (this.#stream !== null) return this.#stream.end();
    return new TextDecoder().decode(Buffer.concat(this.#chunks));
  }

  #write(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#response.destroyed) this.#response.write(bytes);
  }
}
