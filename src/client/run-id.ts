import { randomInt } from 'node:crypto';
import { ClientError } from './client-error.ts';

/** Without letters and digits that are mistaken for each other, or that spell words. */
const ALPHABET = '23456789bcdfghjkmnpqrstvwxz';
const MAX_NAME = 40;

/** A readable run id, `<name>-<yyyymmdd>-<4 random>`, lower case; the date is the day in UTC. */
export function createRunId(name: string, now: Date): string {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  return `${toSlug(name)}-${day}-${drawLetters(4)}`;
}

/** Refuses run ids that could not be typed, put into a URL or told from a word of the command line. */
export function checkRunId(runId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(runId) && runId !== 'last') return runId;
  const rule =
    'letters, digits, ".", "_" and "-", at most 100, starting with a letter or digit; "last" is taken';
  throw new ClientError(`"${runId}" cannot be a run id. A run id is ${rule}.`);
}

function toSlug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').slice(0, MAX_NAME);
  return slug.replace(/^-|-$/g, '') || 'run';
}

const drawLetters = (count: number): string =>
  Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
