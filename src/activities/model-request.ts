import { outputCap } from '../domain/estimate.ts';
import type { CallModelInput } from '../domain/step.ts';
import { toWorstCase, type WorstCase } from '../domain/worst-case.ts';
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
  readonly worst: WorstCase;
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

function worstCase(place: CellPlace, request: PreparedCall['request']): WorstCase {
  const inputBytes = Buffer.byteLength(JSON.stringify([request.messages, request.tools]));
  return toWorstCase({ inputBytes, maxOutputTokens: request.maxOutputTokens, price: place.model.price });
}
