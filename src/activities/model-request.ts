import { outputCap } from '../domain/estimate.ts';
import type { CallKey } from '../domain/ids.ts';
import type { CallModelInput } from '../domain/step.ts';
import { toWorstCase, type WorstCase } from '../domain/worst-case.ts';
import { adjustInput } from '../harnesses/adjust-input.ts';
import { findHarness } from '../harnesses/lookup.ts';
import { toEngineId } from '../providers/lookup.ts';
import type { ModelRequest } from '../providers/provider.ts';
import type { Dependencies } from './dependencies.ts';
import { loadMcpTools } from './mcp-tools.ts';
import type { CellPlace } from './run-reader.ts';

/** A model request without its number and time limit, and what it may cost at the worst. */
export type PreparedCall = {
  readonly place: CellPlace;
  readonly engineId: string;
  readonly request: Omit<ModelRequest, 'timeouts' | 'cell'>;
  readonly worst: WorstCase;
};

const DEFAULT_CALL_MS = 600_000;

/** Time-outs of one request; `leftMs` = what its attempt may still take. */
export const toTimeouts = (
  { provider, limits }: CellPlace,
  leftMs: number | null = null,
): ModelRequest['timeouts'] => ({
  ...provider.timeouts,
  totalMs: Math.min(limits.modelCallTimeMs ?? DEFAULT_CALL_MS, leftMs ?? Infinity),
});

/** Whose request it is, for providers that answer by it. */
export const toRequestCell = (
  { plan, request, model, testCase }: CellPlace,
  { runId, attempt, step, purpose }: CallKey,
  requestNumber: number,
): ModelRequest['cell'] => ({
  runId,
  requestName: request.spec.name,
  modelId: model.id,
  caseId: testCase.id,
  seed: plan.spec.execution.seed,
  attempt,
  step,
  purpose,
  requestNumber,
});

/** Rebuilds what the model is to read: the start messages of the harness, then the stored transcript. */
export async function buildRequest(dependencies: Dependencies, input: CallModelInput): Promise<PreparedCall> {
  const { cell, tryNumber, upToSequence } = input;
  const place = await dependencies.runs.find(cell);
  const { harness: harnessSpec } = place.request.spec;
  const harness = findHarness(harnessSpec.kind);
  const transcript = await dependencies.transcripts.read({ key: cell, tryNumber }, upToSequence);
  const start = harness.startMessages(adjustInput(place.testCase, place.request.spec.environment));
  const maxOutputTokens = outputCap(place.model);
  const request = {
    model: place.model.model,
    params: place.model.params,
    messages: [...start, ...transcript.messages],
    tools: [
      ...harness.listTools(
        harnessSpec,
        place.plan.spec.module?.tools.map(({ schema }) => schema),
      ),
      ...(await loadMcpTools(dependencies, place)).map(({ schema }) => schema),
    ],
    maxOutputTokens,
    stream: place.provider.stream,
  };
  // As the bytes of `[messages, tools]` as JSON; those of the transcript were counted when it was stored.
  const inputBytes =
    Buffer.byteLength(JSON.stringify([start, request.tools])) + transcript.jsonBytes + upToSequence;
  const worst = toWorstCase({ inputBytes, maxOutputTokens, price: place.model.price });
  return { place, engineId: toEngineId(place.provider), request, worst };
}
