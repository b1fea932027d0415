import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fields } from '../providers/fields.ts';
import type { WireError, WireForm } from './wire-form.ts';

/** How long the rest of an answer is awaited for an agent that left after its last word. */
const STAY_MS = 1_000;

/** One request of an agent and the connection that waits for its answer. */
export class AgentClient {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #gone = new AbortController();
  #stays: () => boolean = () => false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    response.on('close', () => this.#onClose());
    response.on('error', () => undefined);
  }

  /** Aborts when the agent has left before its answer was whole. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** While this holds, an agent that leaves gets a moment before `gone` aborts. */
  staysWhile(holds: () => boolean): void {
    this.#stays = holds;
  }

  /** Ends the request as if the agent had left. */
  cut(why: string): void {
    const leave = (): void => this.#gone.abort(new Error(why));
    if (this.#stays()) setTimeout(leave, STAY_MS).unref();
    else leave();
  }

  sendJson(status: number, body: Fields, headers: { readonly [name: string]: string } = {}): void {
    if (this.response.headersSent) return this.breakOff();
    this.response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
  }

  sendError(form: WireForm, error: WireError, headers: { readonly [name: string]: string } = {}): void {
    this.sendJson(error.status, form.writeError(error), headers);
  }

  /** The agent is to see that the answer is not whole. */
  breakOff(): void {
    this.response.destroy();
  }

  #onClose(): void {
    if (!this.response.writableFinished)
      this.cut('the agent closed the connection before its answer was whole');
  }
}
