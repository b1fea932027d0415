import { LRUCache } from 'lru-cache';
import { formatAttemptKey, type AttemptKey } from '../domain/ids.ts';
import type { Message } from '../domain/transcript.ts';
import { loadSteps, type StoredStep } from '../store/steps.ts';
import type { Db } from '../store/pool.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** What a message costs in memory beside its text. */
const MESSAGE_BYTES = 200;

/** The transcript that one try of an attempt writes. */
export type TranscriptPlace = { readonly key: AttemptKey; readonly tryNumber: number };

export type Transcript = {
  readonly messages: readonly Message[];
  /** Bytes of the messages, each as JSON. */
  readonly jsonBytes: number;
};

/** The first messages of a transcript; `ends[i]` = bytes of the first i + 1 of them. */
type Prefix = { readonly messages: Message[]; readonly ends: number[] };

/**
 * Beginnings of transcripts that this process wrote or read, so that a step of a long agent reads only what is new.
 * A row of a transcript never changes once it is there, so that a beginning is never out of date, whichever
 * worker wrote what follows it. What does not fit any more is read again, whole.
 */
export class TranscriptCache {
  private readonly db: Db;
  private readonly known: LRUCache<string, Prefix>;

  constructor(db: Db, { maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {}) {
    this.db = db;
    this.known = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ ends, messages }) => (ends.at(-1) ?? 0) + MESSAGE_BYTES * (messages.length + 1),
    });
  }

  /** The messages of a try up to and including `upToSequence`. Throws when the store lacks one of them. */
  async read(place: TranscriptPlace, upToSequence: number): Promise<Transcript> {
    const name = toName(place);
    const { messages, ends } = this.known.get(name) ?? { messages: [], ends: [] };
    const afterSequence = messages.length;
    const steps =
      afterSequence >= upToSequence
        ? []
        : await loadSteps(this.db, { ...place, afterSequence, upToSequence });
    for (const step of steps) append({ messages, ends }, step);
    if (messages.length < upToSequence)
      throw new Error(`The store has no message ${messages.length + 1} of ${name}.`);
    if (steps.length > 0) this.keep(name, { messages, ends });
    return { messages: messages.slice(0, upToSequence), jsonBytes: ends[upToSequence - 1] ?? 0 };
  }

  /** Remembers a message that has just been stored, where all before it are known. */
  add(place: TranscriptPlace, step: StoredStep): void {
    const name = toName(place);
    const prefix = this.known.get(name) ?? { messages: [], ends: [] };
    if (prefix.messages.length !== step.sequence - 1) return;
    append(prefix, step);
    this.keep(name, prefix);
  }

  /** As a new entry: the size of a known one is not looked at again. */
  private keep(name: string, { messages, ends }: Prefix): void {
    this.known.set(name, { messages, ends });
  }
}

const toName = ({ key, tryNumber }: TranscriptPlace): string => `${formatAttemptKey(key)}/t${tryNumber}`;

/** Two deliveries of one step may read the same rows: the second finds them there. */
function append({ messages, ends }: Prefix, { sequence, message, jsonBytes }: StoredStep): void {
  if (sequence !== messages.length + 1) return;
  messages.push(message);
  ends.push((ends.at(-1) ?? 0) + jsonBytes);
}
