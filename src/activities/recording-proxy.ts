import type { StopScope } from '../domain/step.ts';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClassifiedFailure } from '../domain/failure.ts';
import type { Cell } from '../domain/ids.ts';
import type { Limit } from '../domain/outcome.ts';
import { SessionLostError, type EnvironmentSession } from '../environments/environment.ts';
import { ProxyServer } from '../recording-proxy/proxy-server.ts';
import { openProxiedTry } from '../store/proxied-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { RecordingDesk } from './recording-desk.ts';
import { waitForKeys } from './wait-for-key.ts';

/** Why the proxy takes no more requests of an attempt. */
export type ProxyEnd =
  /** The store grants no call: the run or the model has been stopped (`budget`, or the run's terminal state). */
  | { readonly kind: 'stopped'; readonly scope: StopScope; readonly code: string }
  /** A cap of the attempt is reached; it is graded as it is. */
  | { readonly kind: 'limit'; readonly limit: Limit };

export type ProxyReport = {
  /** Requests that were sent to the model. */
  readonly calls: number;
  /** Those of them that brought an answer. */
  readonly answers: number;
  /** Input and output tokens; null = no provider has said. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly ended: ProxyEnd | null;
  /** Of the last request, when it brought no answer. */
  readonly lastFailure: Pick<ClassifiedFailure, 'class' | 'message' | 'status' | 'retryable'> | null;
};

export type RecordingProxy = {
  /** `openai` ends in `/v1`, the others do not; all as the session's commands reach them. */
  readonly baseUrls: { readonly openai: string; readonly anthropic: string; readonly google: string };
  /** The agent's API key: worth nothing anywhere else. */
  readonly token: string;
  /** Aborts when the proxy takes no more requests; `report().ended` says why. */
  readonly refusing: AbortSignal;
  report(): ProxyReport;
  /** Cuts what is in flight and settles it. Every row is settled when this resolves. Idempotent. */
  close(): Promise<void>;
};

export type RecordingRequest = {
  readonly cell: Cell;
  readonly tryNumber: number;
  /** Null = the agent runs on this host, outside a session. */
  readonly session: EnvironmentSession | null;
  /** Ends every request when it aborts. */
  readonly signal: AbortSignal;
  /** Requests that the agent may make; no limit unless given. */
  readonly maxSteps?: number;
};

/** The proxy cannot be reached from the session: another session may do. */
export class ProxyUnreachableError extends Error {
  override readonly name = 'ProxyUnreachableError';
}

/**
 * Serves the model of a cell to an external agent in the wire forms of OpenAI, Anthropic and Google. Every request is
 * recorded, paid and bounded as any other model call. Throws `ComeBack` while this worker has not the key, a
 * `SessionLostError`, or a `ProxyUnreachableError`.
 */
export async function openRecordingProxy(
  dependencies: Dependencies,
  request: RecordingRequest,
): Promise<RecordingProxy> {
  const { cell, tryNumber, session, signal } = request;
  signal.throwIfAborted();
  const place = await dependencies.runs.find(cell);
  waitForKeys(dependencies, [place.provider.apiKeyEnv]);
  const spending = await openProxiedTry(dependencies.db, { key: cell, tryNumber });
  const desk = new RecordingDesk(dependencies, { ...request, place, spending });
  const proxy = new ProxyServer(desk);
  const { port } = await listen(session, proxy.server);
  const onAbort = (): void => void proxy.close();
  if (signal.aborted) await proxy.close();
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  const origin = `http://127.0.0.1:${port}`;
  return {
    baseUrls: { openai: `${origin}/v1`, anthropic: origin, google: origin },
    token: proxy.token,
    refusing: desk.refusing,
    report: () => desk.report(),
    close: async () => {
      signal.removeEventListener('abort', onAbort);
      await proxy.close();
    },
  };
}

async function listen(
  session: EnvironmentSession | null,
  server: Server,
): Promise<{ readonly port: number }> {
  if (session === null) return await listenHere(server);
  try {
    return await session.listen(server);
  } catch (error) {
    if (error instanceof SessionLostError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ProxyUnreachableError(`the recording proxy cannot be reached from the session: ${why}`, {
      cause: error,
    });
  }
}

function listenHere(server: Server): Promise<{ readonly port: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly port: number }>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }));
  return promise;
}
