import { classifyFailure } from '../domain/classify-failure.ts';
import { readAnswerFacts, readErrorFacts } from '../domain/failure-facts.ts';
import { exchange } from './exchange.ts';
import { CallFault } from './provider-error.ts';

const HEALTH_LIMIT_MS = 5_000;

/**
 * Asks an address whether it is there. Null = it answers, also where it knows no such path; else one line:
 * a refused key, a server error, or why there was no connection.
 */
export async function checkHealth(probe: {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}): Promise<string | null> {
  try {
    const limit = HEALTH_LIMIT_MS;
    const answer = await exchange({
      ...probe,
      method: 'GET',
      body: null,
      timeouts: { connectMs: limit, firstByteMs: limit, idleMs: limit, totalMs: limit },
    });
    if (answer.status < 400) return null;
    const { class: failure, message } = classifyFailure(readAnswerFacts(answer), { now: Date.now() });
    // Google refuses a key with a 400.
    const refused = answer.status === 401 || answer.status === 403 || failure === 'credential';
    // 501: the server is there and lists no models.
    if (!refused && (answer.status < 500 || answer.status === 501)) return null;
    return refused ? `the key was refused: ${message}` : `${probe.url} is not well: ${message}`;
  } catch (error) {
    if (probe.signal.aborted) throw probe.signal.reason;
    const facts = error instanceof CallFault ? error.facts : readErrorFacts(error);
    const { message } = classifyFailure(facts, { now: Date.now() });
    return `${probe.url} does not answer: ${message}; start the server or correct baseUrl, then run again`;
  }
}
