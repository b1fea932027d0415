import { createHash } from 'node:crypto';
import type { AttemptKey } from '../domain/ids.ts';
import { redactJson } from '../domain/redact.ts';
import type { Message } from '../domain/transcript.ts';
import { appendSteps } from '../store/steps.ts';
import type { Dependencies } from './dependencies.ts';
import { untilWritten } from './until-written.ts';

/**
 * What the model of one try was told and said, each message once: agents send their whole history with every
 * request, and may change old parts of it or have several conversations.
 */
export class ProxyTranscript {
  readonly #dependencies: Dependencies;
  readonly #place: { readonly key: AttemptKey; readonly tryNumber: number };
  /** How often each message is there already. */
  readonly #known = new Map<string, number>();
  #sequence: number;

  constructor(
    dependencies: Dependencies,
    place: { readonly key: AttemptKey; readonly tryNumber: number; readonly lastSequence: number },
  ) {
    this.#dependencies = dependencies;
    this.#place = place;
    this.#sequence = place.lastSequence;
  }

  /** Keeps those messages of a request that are not there yet. */
  async add(messages: readonly Message[], signal: AbortSignal): Promise<void> {
    const { db, redact } = this.#dependencies;
    const steps = this.#findNew(messages).map((message) => ({
      sequence: this.nextSequence(),
      message: redactJson(message, redact) as Message,
    }));
    if (steps.length > 0) await untilWritten(() => appendSteps(db, { ...this.#place, steps }), signal);
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  /** The answer to the last request: the next one will repeat it. */
  learn(answer: Message): void {
    this.#count(toContentKey(answer));
  }

  #findNew(messages: readonly Message[]): Message[] {
    const seen = new Map<string, number>();
    return messages.filter((message) => {
      const key = toContentKey(message);
      const times = (seen.get(key) ?? 0) + 1;
      seen.set(key, times);
      if (times <= (this.#known.get(key) ?? 0)) return false;
      this.#count(key);
      return true;
    });
  }

  #count(key: string): void {
    this.#known.set(key, (this.#known.get(key) ?? 0) + 1);
  }
}

/** Agents repeat an answer without its thoughts, with other ids, and with spaces of their own. */
function toContentKey(message: Message): string {
  const calls =
    message.role === 'assistant' ? message.toolCalls.map((call) => [call.name, call.arguments]) : [];
  const id = message.role === 'tool' ? message.toolCallId : '';
  return createHash('sha256')
    .update(JSON.stringify([message.role, id, message.text.trim(), calls]))
    .digest('base64');
}
