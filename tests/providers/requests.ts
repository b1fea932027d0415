import type { ProviderSpec } from '../../src/domain/run.ts';
import type { ModelProvider, ModelRequest } from '../../src/providers/provider.ts';
import { ProviderError } from '../../src/providers/provider-error.ts';

export type RequestPart = Partial<Omit<ModelRequest, 'cell' | 'timeouts'>> & {
  readonly cell?: Partial<ModelRequest['cell']>;
  readonly timeouts?: Partial<ModelRequest['timeouts']>;
};

export const toRequest = (part: RequestPart = {}): ModelRequest => ({
  model: 'some-model',
  params: {},
  messages: [{ role: 'user', text: 'What is the capital of France?' }],
  tools: [],
  maxOutputTokens: null,
  stream: false,
  ...part,
  timeouts: { connectMs: 2000, firstByteMs: 2000, idleMs: 2000, totalMs: 5000, ...part.timeouts },
  cell: {
    runId: 'run-1',
    requestName: 'request',
    modelId: 'model',
    caseId: 'case-1',
    seed: 0,
    attempt: 1,
    step: 1,
    purpose: 'agent',
    requestNumber: 1,
    ...part.cell,
  },
});

export const toSpec = (part: Partial<ProviderSpec> = {}): ProviderSpec => ({
  id: 'local',
  kind: 'openai-compatible',
  baseUrl: null,
  apiKeyEnv: null,
  concurrency: 'auto',
  requestsPerMinute: null,
  tokensPerMinute: null,
  retry: { max: 4, baseMs: 1000 },
  stream: false,
  timeouts: { connectMs: 2000, firstByteMs: 2000, idleMs: 2000 },
  ...part,
});

export const NEVER = new AbortController().signal;

/** The error of a call that must fail. */
export async function failCall(provider: ModelProvider, part: RequestPart = {}): Promise<ProviderError> {
  const error: unknown = await provider.call(toRequest(part), NEVER).then(
    (answer) => answer,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`expected a ProviderError, got ${JSON.stringify(error)} ${String(error)}`);
}
