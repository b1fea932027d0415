import { realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { findFolderFault, toKeySocketPath } from './key-place.ts';

/** What a command says to the worker of this machine: one line of JSON; the worker answers with one. */
export const keyOfferSchema = z.strictObject({
  /** Values by name of variable. They take the place of what the worker has. */
  keys: z.record(z.string(), z.string()),
  /** Names to look for, once the values are taken. */
  ask: z.array(z.string()),
});

export type KeyOffer = z.infer<typeof keyOfferSchema>;

const keyAnswerSchema = z.strictObject({
  /** Those of the asked names that the worker has no value for. */
  missing: z.array(z.string()),
});

export type KeyAnswer = z.infer<typeof keyAnswerSchema>;

const TIMEOUT_MS = 5_000;

/** Talks to the worker of the stack in `dataDir`; null when none listens there that can be trusted with a key. */
export async function offerKeys(dataDir: string, offer: KeyOffer): Promise<KeyAnswer | null> {
  try {
    const path = toKeySocketPath(realpathSync(dataDir));
    if (findFolderFault(path) !== null) return null;
    const socket = connect(path);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the worker does not answer')));
    socket.end(`${JSON.stringify(offer)}\n`);
    return keyAnswerSchema.parse(JSON.parse(await text(socket)));
  } catch {
    // No stack, a worker that is starting or ending, an older one: the run says itself what it misses.
    return null;
  }
}
