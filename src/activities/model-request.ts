import { outputCap } from '../domain/estimate.ts';
import type { CallModelInput } from '../domain/step.ts';
import { toCostUsd, UNKNOWN_USAGE } from '../domain/usage.ts';
import { findHarness } from '../harnesses/lookup.ts';
import { toEngineId } from '../providers/lookup.ts';
import type { ModelRequest } from '../providers/provider.ts';
import { loadTranscript } from '../store/steps.ts';
import type { Dependencies } from './dependencies.ts';
import { loadMcpTools } from './mcp-tools.ts';
import type { CellPlace } from './run-reader.ts';

/** A model request without its number and time limit, and what it may cost at the worst. */
export type PreparedCall = {
  readonly place: CellPlace;
  readonly engineId: string;
  readonly request: Omit<ModelRequest, 'timeouts' | 'cell'>;
  readonly worst: { readonly tokens: number; readonly usd: number | null };
};

/** Rebuilds what the model is to read: the start messages of the harness, then the stored transcript. */
export async function buildRequest(dependencies: Dependencies, input: CallModelInput): Promise<PreparedCall> {
  const { cell, tryNumber, upToSequence } = input;
  const place = await dependencies.runs.find(cell);
  const { harness: harnessSpec } = place.request.spec;
  const harness = findHarness(harnessSpec.kind);
  const steps =
    upToSequence === 0 ? [] : await loadTranscript(dependencies.db, { key: cell, tryNumber, upToSequence });
  const maxOutputTokens = outputCap(place.model);
  const request = {
    model: place.model.model,
    params: place.model.params,
    messages: [...harness.startMessages(place.testCase), ...steps],
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
  return { place, engineId: toEngineId(place.provider), request, worst: worstCase(place, request) };
}

/** Input is at most a token a byte of what is sent; output at most its cap (0 where none is declared). */
function worstCase(place: CellPlace, request: PreparedCall['request']): PreparedCall['worst'] {
  const inputTokens = Buffer.byteLength(JSON.stringify([request.messages, request.tools]));
  const outputTokens = request.maxOutputTokens ?? 0;
  const { price } = place.model;
  // Where nothing bounds an answer that costs money, there is no worst case: 0 would say that it is free.
  const isOpen = request.maxOutputTokens === null && price !== null && price.output > 0;
  const usd = isOpen ? null : toCostUsd({ ...UNKNOWN_USAGE, inputTokens, outputTokens }, price);
  return { tokens: inputTokens + outputTokens, usd };
}
