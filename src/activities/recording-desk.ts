import { checkLimits } from '../domain/agent-limits.ts';
import { outputCap } from '../domain/estimate.ts';
import type { CallKey } from '../domain/ids.ts';
import { addKnown, toCostUsd, totalTokens } from '../domain/usage.ts';
import { toWorstCase, type WorstCase } from '../domain/worst-case.ts';
import { toEngineId } from '../providers/lookup.ts';
import type { AgentClient } from '../recording-proxy/agent-client.ts';
import type { ProxiedRequest, ProxyDesk } from '../recording-proxy/proxy-server.ts';
import type { Asked } from '../recording-proxy/wire-form.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import type { TrySpending } from '../store/proxied-calls.ts';
import { admitProxied, type ProxiedAdmission } from './admit-proxied.ts';
import { countProxiedTokens } from './count-proxied-tokens.ts';
import type { Dependencies } from './dependencies.ts';
import { watchProbe } from './engine-watch.ts';
import { runProxiedCall, type ProxiedEnd } from './proxied-call.ts';
import { ProxyTranscript } from './proxy-transcript.ts';
import type { ProxyEnd, ProxyReport, RecordingRequest } from './recording-proxy.ts';
import type { CellPlace } from './run-reader.ts';

type DeskOptions = RecordingRequest & { readonly place: CellPlace; readonly spending: TrySpending };

type PreparedRequest = ProxiedRequest & {
  readonly asked: Asked;
  readonly key: CallKey;
  readonly worst: WorstCase;
  readonly maxOutputTokens: number | null;
  readonly signal: AbortSignal;
};

/** Decides about every request of one try of an external agent, and keeps count. */
export class RecordingDesk implements ProxyDesk {
  readonly #dependencies: Dependencies;
  readonly #options: DeskOptions;
  readonly #transcript: ProxyTranscript;
  readonly #refusing = new AbortController();
  readonly #otherModels = new Set<string>();
  readonly #engineId: string;
  #step: number;
  #report: ProxyReport;
  /** Tokens of requests that were cut off, at the worst: they count against the limit of the attempt. */
  #lostTokens = 0;

  constructor(dependencies: Dependencies, options: DeskOptions) {
    const { cell, tryNumber, spending, place } = options;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#engineId = toEngineId(place.provider);
    this.#transcript = new ProxyTranscript(dependencies, {
      key: cell,
      tryNumber,
      lastSequence: spending.lastSequence,
    });
    this.#step = spending.lastStep;
    const { tokens, costUsd } = spending;
    this.#report = { calls: 0, answers: 0, tokens, costUsd, ended: null, lastFailure: null };
  }

  get refusing(): AbortSignal {
    return this.#refusing.signal;
  }

  report(): ProxyReport {
    return this.#report;
  }

  async handle(request: ProxiedRequest): Promise<void> {
    const { form, body, client } = request;
    const asked = form.readAsked(body);
    await this.#noteModel(asked.model);
    const refusal = form.findRefusal(body, { isBounded: this.#isBounded() });
    if (refusal !== null) {
      const message = `Assay's recording proxy: ${refusal}.`;
      return client.sendError(form, { status: 400, code: 'not_recordable', message });
    }
    this.#lookAtLimits();
    if (this.#report.ended !== null) return this.#refuse(request);
    const signal = client.gone;
    const prepared = this.#prepare(request, asked, signal);
    try {
      await this.#admitAndRun(prepared);
    } catch (error) {
      if (!signal.aborted) throw error;
      client.breakOff();
    }
  }

  async countTokens(request: ProxiedRequest): Promise<void> {
    if (this.#report.ended !== null) return this.#refuse(request);
    await countProxiedTokens(this.#dependencies, { ...request, place: this.#options.place });
  }

  listModels(client: AgentClient): void {
    const { model } = this.#options.place;
    const names = [...new Set([model.model, model.id])];
    const data = names.map((id) => ({
      id,
      object: 'model',
      type: 'model',
      display_name: id,
      created: 0,
      created_at: '1970-01-01T00:00:00Z',
      owned_by: 'assay',
    }));
    const [first = null] = names;
    client.sendJson(200, { object: 'list', data, has_more: false, first_id: first, last_id: names.at(-1) });
  }

  #prepare(request: ProxiedRequest, asked: Asked, signal: AbortSignal): PreparedRequest {
    const { cell, tryNumber, place } = this.#options;
    const maxOutputTokens = this.#isBounded() ? outputCap(place.model) : null;
    const cap = asked.maxOutputTokens ?? maxOutputTokens;
    const worst = toWorstCase({
      inputBytes: Buffer.byteLength(JSON.stringify(request.body)),
      maxOutputTokens: cap === null ? null : cap * asked.answers,
      price: place.model.price,
    });
    const { runId, task, attempt, generation } = cell;
    this.#step += 1;
    const key = { runId, task, attempt, generation, tryNumber, purpose: 'agent', step: this.#step };
    return { ...request, asked, key, worst, maxOutputTokens, signal };
  }

  /** Waits with the connection open as long as the store says so. */
  async #admitAndRun(prepared: PreparedRequest): Promise<void> {
    const { key, worst, signal } = prepared;
    const modelId = this.#options.place.model.id;
    const ask = { key, modelId, engineId: this.#engineId, worst, signal };
    const admission = await admitProxied(this.#dependencies, ask, this.#options.place.plan);
    if (admission.kind === 'refused') {
      this.#end(admission.end);
      return this.#refuse(prepared);
    }
    try {
      await this.#run(prepared, admission);
    } finally {
      admission.giveBack();
    }
  }

  async #run(prepared: PreparedRequest, { requestNumber, probe }: Granted): Promise<void> {
    const { place } = this.#options;
    const { key, worst } = prepared;
    this.#report = { ...this.#report, calls: this.#report.calls + 1 };
    const { price } = place.model;
    const { signal } = this.#options;
    const sent = { key, requestNumber, engineId: this.#engineId, probe, price, signal };
    const call = { ...prepared, place, sent, transcript: this.#transcript };
    const watch = watchProbe(this.#dependencies, sent);
    try {
      await runProxiedCall(this.#dependencies, call, (end) => this.#count(end, worst));
    } finally {
      watch.stop();
    }
  }

  #count(end: ProxiedEnd, worst: WorstCase): void {
    const { tokens, costUsd, answers } = this.#report;
    if (end.kind === 'answered') {
      this.#report = {
        ...this.#report,
        answers: answers + 1,
        tokens: addKnown(tokens, totalTokens(end.kept.usage)),
        costUsd: addKnown(costUsd, end.kept.costUsd),
        lastFailure: null,
      };
      return;
    }
    const { class: name, message, status, retryable, served } = end.failure;
    const known = end.usage === null ? null : totalTokens(end.usage);
    if (end.usage === null && served) this.#lostTokens += worst.tokens;
    const lastFailure = { class: name, message, status, retryable };
    const paid = end.usage === null ? null : toCostUsd(end.usage, this.#options.place.model.price);
    this.#report = {
      ...this.#report,
      tokens: addKnown(tokens, known),
      costUsd: addKnown(costUsd, paid),
      lastFailure,
    };
  }

  #lookAtLimits(): void {
    const { place, maxSteps = Infinity } = this.#options;
    const { tokens, costUsd, ended } = this.#report;
    const limit = checkLimits({
      // The command itself is ended when its time is up.
      limits: { ...place.limits, attemptTimeMs: null },
      steps: this.#step,
      maxSteps,
      tokens: this.#lostTokens === 0 ? tokens : addKnown(tokens, this.#lostTokens),
      costUsd,
      measuredMs: 0,
    });
    if (limit !== null && ended === null) this.#end({ kind: 'limit', limit });
  }

  #end(ended: ProxyEnd): void {
    if (this.#report.ended === null) this.#report = { ...this.#report, ended };
    this.#refusing.abort(new Error(describeEnd(ended)));
  }

  #refuse({ form, client }: ProxiedRequest): void {
    const { ended } = this.#report;
    if (ended === null) throw new Error('a request was refused without a reason');
    const code = ended.kind === 'limit' ? `attempt_${ended.limit.kind}_limit` : ended.code;
    const error = { status: 403, code, message: describeEnd(ended) };
    // Clients of OpenAI and Anthropic read this header and do not try again.
    client.sendError(form, error, { 'x-should-retry': 'false' });
  }

  /** Whether anything needs to know what a request may cost before it is sent. */
  #isBounded(): boolean {
    const { place, spending } = this.#options;
    const { attemptTokens, attemptCostUsd } = place.limits;
    return spending.hasCaps || attemptTokens !== null || attemptCostUsd !== null;
  }

  /** Another name than the attempt's is noted once. */
  async #noteModel(name: string): Promise<void> {
    const { cell, tryNumber, place } = this.#options;
    const { model, provider } = place;
    const known = [model.model, model.id, `${provider.id}:${model.model}`].map(toPlainName);
    const plain = toPlainName(name);
    if (name === '' || known.includes(plain) || this.#otherModels.has(plain)) return;
    if (this.#otherModels.size >= NOTED_MODELS) return;
    this.#otherModels.add(plain);
    const asked = this.#dependencies.redact(name.slice(0, 100));
    const message = `the agent asked for model "${asked}"; every request went to ${model.model}`;
    const warning = { tryNumber, phase: 'run' as const, message };
    await noteWarning(this.#dependencies.db, { key: cell, warning }).catch(() => undefined);
  }
}

type Granted = Pick<Extract<ProxiedAdmission, { kind: 'granted' }>, 'requestNumber' | 'probe'>;

const NOTED_MODELS = 20;

/** Agents put the name of a vendor before it: `openai/gpt-5`. */
const toPlainName = (name: string): string => name.toLowerCase().replace(/^.*\//, '');

function describeEnd(ended: ProxyEnd): string {
  if (ended.kind === 'limit') {
    const { kind, limit, measured } = ended.limit;
    return `Assay ends this attempt: its limit of ${kind}, ${limit}, is reached (${measured}).`;
  }
  if (ended.code === 'budget') {
    const whose = ended.scope === 'run' ? 'the run' : 'this model';
    return `Assay ends this attempt: the budget of ${whose} does not allow another request.`;
  }
  if (ended.scope === 'engine')
    return `Assay ends this attempt: the provider takes no calls any more (${ended.code}).`;
  return `Assay ends this attempt: the run has been stopped (${ended.code}).`;
}
