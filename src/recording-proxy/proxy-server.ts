import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isFields, type Fields } from '../providers/fields.ts';
import { AgentClient } from './agent-client.ts';
import { chatForm } from './chat-form.ts';
import { googleForm } from './google-form.ts';
import { messagesForm } from './messages-form.ts';
import { readBody, REQUEST_LIMIT_BYTES } from './read-body.ts';
import { responsesForm } from './responses-form.ts';
import type { WireError, WireForm } from './wire-form.ts';

const FORMS: readonly WireForm[] = [chatForm, responsesForm, messagesForm, googleForm];
/** Bodies of requests that are held at a time. */
const HELD_LIMIT_BYTES = 2 * REQUEST_LIMIT_BYTES;
/** Requests at a time; an agent that sends more is told to wait. */
const OPEN_LIMIT = 32;
const IDLE_MS = 3_600_000;
/** How long an agent may go on sending what is refused. */
const REFUSED_MS = 2_000;

export type ProxiedRequest = {
  readonly form: WireForm;
  readonly body: Fields;
  /** As the agent wrote it: `?beta=true`, or empty. */
  readonly search: string;
  readonly client: AgentClient;
};

/** Who decides what becomes of a request. Each handler answers its client itself. */
export interface ProxyDesk {
  handle(request: ProxiedRequest): Promise<void>;
  countTokens(request: ProxiedRequest): Promise<void>;
  listModels(client: AgentClient): void;
}

/** An HTTP server that speaks the model APIs to one agent, who knows its token. It listens on nothing by itself. */
export class ProxyServer {
  readonly server: Server;
  readonly token = `assay-${randomBytes(24).toString('hex')}`;
  readonly #desk: ProxyDesk;
  readonly #open = new Map<Promise<void>, AgentClient>();
  #heldBytes = 0;

  constructor(desk: ProxyDesk) {
    this.#desk = desk;
    // Agents keep their connection while they run tools.
    const options = { keepAliveTimeout: IDLE_MS };
    this.server = createServer(options, (request, response) => this.#take(request, response));
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Takes no more requests, cuts the connections, and waits until every request has been dealt with. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.server.listening) this.server.close(() => resolve());
      else resolve();
    });
    for (const client of this.#open.values()) client.cut('the attempt ended before the answer was whole');
    this.server.closeAllConnections();
    await Promise.all(this.#open.keys());
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const client = new AgentClient(request, response);
    const form = findForm(request.url ?? '');
    const work = this.#answer(client).catch((error: unknown) => {
      const message = `Assay could not handle this request: ${error instanceof Error ? error.message : String(error)}`;
      client.sendError(form, { status: 500, code: 'assay_fault', message });
    });
    this.#open.set(work, client);
    void work.finally(() => this.#open.delete(work));
  }

  async #answer(client: AgentClient): Promise<void> {
    const { method = '', url = '', headers } = client.request;
    const form = findForm(url);
    const { path, search } = toPath(url);
    if (!this.#isKnown(headers, search)) return refuse(client, form, UNKNOWN_TOKEN);
    if (method === 'GET' && /^\/models(\/|$)/.test(path)) return this.#desk.listModels(client);
    const counts = path === `${messagesForm.path}/count_tokens`;
    const inPath = counts ? {} : readPath(form, url);
    if (method !== 'POST' || inPath === null) return refuse(client, form, NO_SUCH_PATH);
    if (this.#open.size > OPEN_LIMIT) return refuse(client, form, TOO_MANY);
    const bytes = toDeclaredBytes(headers);
    if (this.#heldBytes + bytes > HELD_LIMIT_BYTES) return refuse(client, form, TOO_MANY);
    this.#heldBytes += bytes;
    try {
      const read = await readRequest(client.request);
      if ('refused' in read) return refuse(client, form, read.refused);
      const body = { ...read.body, ...inPath };
      const request = { form, body, search: form.readPath === undefined ? search : '', client };
      await (counts ? this.#desk.countTokens(request) : this.#desk.handle(request));
    } finally {
      this.#heldBytes -= bytes;
    }
  }

  #isKnown(headers: IncomingMessage['headers'], search: string): boolean {
    const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1];
    const asked = new URLSearchParams(search).get('key');
    const given = [bearer, headers['x-api-key'], headers['api-key'], headers['x-goog-api-key'], asked];
    return given.some((one) => typeof one === 'string' && isEqual(one.trim(), this.token));
  }
}

/** What a request may take up: all that one may have, where it does not say. */
function toDeclaredBytes(headers: IncomingMessage['headers']): number {
  const stated = headers['content-length'];
  return stated === undefined ? REQUEST_LIMIT_BYTES : Math.min(Number(stated), REQUEST_LIMIT_BYTES);
}

const isEqual = (one: string, other: string): boolean => timingSafeEqual(toHash(one), toHash(other));
const toHash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** `/v1`, or `/v1beta`, is where the APIs begin; some clients leave it out. */
function toPath(url: string): { readonly path: string; readonly search: string } {
  const { pathname, search } = URL.parse(url, 'http://proxy') ?? { pathname: '', search: '' };
  return { path: pathname.replace(/^\/v1(?:beta)?(?=\/)/, '').replace(/\/+$/, ''), search };
}

/** The form in which a path's errors are written, too. */
const findForm = (url: string): WireForm =>
  FORMS.find((form) =>
    form.readPath === undefined ? toPath(url).path.startsWith(form.path) : readPath(form, url) !== null,
  ) ?? chatForm;

/** What a path says of its request; null = it is no path of the form. */
function readPath(form: WireForm, url: string): Fields | null {
  const { path, search } = toPath(url);
  if (form.readPath !== undefined) return form.readPath(path, new URLSearchParams(search));
  return path === form.path ? {} : null;
}

/** Tells the agent why not; what it still sends is dropped for a moment, so that it can read that. */
function refuse(
  client: AgentClient,
  form: WireForm,
  error: WireError & { readonly retryAfterS?: number },
): void {
  const { retryAfterS } = error;
  const wait = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
  client.sendError(form, error, { connection: 'close', ...wait });
  client.request.resume();
  const cut = setTimeout(() => client.request.destroy(), REFUSED_MS).unref();
  client.request.once('close', () => clearTimeout(cut));
}

const UNKNOWN_TOKEN = {
  status: 401,
  code: 'invalid_api_key',
  message:
    'This is the recording proxy of an Assay attempt: the token that the attempt was given is missing.',
};

const NO_SUCH_PATH = {
  status: 404,
  code: 'unknown_path',
  message: `The recording proxy serves POST ${FORMS.map(({ path }) => `/v1${path}`).join(', ')}, /v1/messages/count_tokens and GET /v1/models.`,
};

const TOO_MANY = {
  status: 429,
  code: 'too_many_requests',
  message: `The recording proxy takes at most ${OPEN_LIMIT} requests of one attempt at a time, and ${HELD_LIMIT_BYTES / 1024 / 1024} MiB.`,
  retryAfterS: 1,
};

type ReadRequest = { readonly body: Fields } | { readonly refused: WireError };

async function readRequest(request: IncomingMessage): Promise<ReadRequest> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    return refused(415, 'content_encoding', `a body with content-encoding "${encoding}": send it as it is`);
  const bytes = await readBody(request, REQUEST_LIMIT_BYTES);
  if (bytes === null) {
    const limit = `${REQUEST_LIMIT_BYTES / 1024 / 1024} MiB`;
    return refused(413, 'request_too_large', `the request is larger than ${limit}`);
  }
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'));
    if (isFields(body)) return { body };
    return refused(400, 'invalid_json', 'the body is no JSON object');
  } catch (error) {
    return refused(400, 'invalid_json', `the body is no JSON: ${(error as Error).message}`);
  }
}

const refused = (status: number, code: string, message: string): ReadRequest => ({
  refused: { status, code, message: `Assay's recording proxy: ${message}.` },
});
