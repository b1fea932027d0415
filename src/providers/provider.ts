import type { JsonObject } from '../domain/json.ts';
import type { CallTimeouts } from '../domain/run.ts';
import type { AssistantMessage, FinishReason, Message, ToolSchema } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';

/** One call of a model, in Assay's own form. */
export type ModelRequest = {
  /** The name that the provider knows. */
  readonly model: string;
  readonly params: JsonObject;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly maxOutputTokens: number | null;
  readonly stream: boolean;
  readonly timeouts: CallTimeouts & { readonly totalMs: number };
  /** Which cell asks: scripted providers answer by it; others ignore it. */
  readonly cell: {
    readonly runId: string;
    readonly requestName: string;
    readonly modelId: string;
    readonly caseId: string;
    /** The run's seed. */
    readonly seed: number;
    readonly attempt: number;
    readonly step: number;
    readonly purpose: string;
    /** From 1; grows with every request sent for this call. */
    readonly requestNumber: number;
  };
  /** Told when the header of a success has come, by providers that see one. */
  readonly onAnswering?: () => void;
};

export type ModelAnswer = {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** Cost that the provider itself reported, or null. */
  readonly reportedCostUsd: number | null;
  /** The provider's id of the answer, or null. */
  readonly answerId: string | null;
  /** Readable notes, such as an ignored part or parameter. */
  readonly notes: readonly string[];
};

export interface ModelProvider {
  /**
   * Sends one request and reads the whole answer. Never retries.
   * Throws a `ProviderError` for every answer that is not a model's answer; rejects with the signal's
   * reason when it is aborted.
   */
  call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
  /** Sends nothing that costs money. Null = answers; else the reason why not, in one line. */
  checkHealth(signal: AbortSignal): Promise<string | null>;
}
