import { createHash } from 'node:crypto';
import type { ZodType } from 'zod';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ProviderKind, ProviderSpec } from '../domain/run.ts';
import { MockProvider } from './mock.ts';
import type { MockOptions } from './mock.ts';
import { isMockMode, MOCK_MODES, mockParams, MODE_NEEDS } from './mock-params.ts';
import { OpenAiCompatibleProvider } from './openai-compatible.ts';
import { openAiParams } from './openai-params.ts';
import { formatParamProblem, listParamProblems } from './params.ts';
import type { ParamProblem } from './params.ts';
import type { ModelProvider } from './provider.ts';

export type ProviderOptions = {
  /** The key itself, or null; it is sent and never logged. */
  readonly apiKey: string | null;
  /** Asked by `mock` only; without it no case has an answer. */
  readonly resolveTarget?: MockOptions['resolveTarget'];
  /** Looked at before the built-in table of failures. */
  readonly rules?: readonly FailureRule[];
};

type KindEntry = {
  readonly create: (spec: ProviderSpec, options: ProviderOptions) => ModelProvider;
  readonly params: ZodType;
};

const KINDS: { readonly [kind in ProviderKind]: KindEntry } = {
  'openai-compatible': {
    create: (spec, options) => new OpenAiCompatibleProvider(spec, options),
    params: openAiParams,
  },
  mock: {
    create: (_spec, options) =>
      new MockProvider({ resolveTarget: options.resolveTarget ?? (async () => null) }),
    params: mockParams,
  },
};

export const PROVIDER_KINDS: readonly ProviderKind[] = ['openai-compatible', 'mock'];

/** The adapter for a provider. Keep it: connections and built models are shared by its calls. */
export const createProvider = (spec: ProviderSpec, options: ProviderOptions): ModelProvider =>
  KINDS[spec.kind].create(spec, options);

/** What is to be sent: parameters, and the model that they are for. */
export type ModelParams = {
  readonly kind: ProviderKind;
  readonly model: string;
  readonly params: JsonObject;
};

/**
 * Problems of a model's parameters before anything is sent: what the provider cannot send, a value outside
 * its type, an unknown mock model, a parameter without which a mock model cannot answer.
 */
export function findParamProblems({ kind, model, params }: ModelParams): ParamProblem[] {
  const problems = listParamProblems(KINDS[kind].params, params);
  return kind === 'mock' ? [...problems, ...checkMockModel(model, params)] : problems;
}

/** As `findParamProblems`, one line each. */
export const checkParams = (checked: ModelParams): string[] =>
  findParamProblems(checked).map(formatParamProblem);

function checkMockModel(model: string, params: JsonObject): ParamProblem[] {
  if (!isMockMode(model)) {
    const message = `unknown mock model "${model}", expected one of ${MOCK_MODES.join(', ')}`;
    return [{ path: ['model'], message }];
  }
  return MODE_NEEDS[model]
    .filter((name) => !Object.hasOwn(params, name))
    .map((name) => ({ path: ['params', name], message: `mock model "${model}" needs params.${name}` }));
}

/**
 * Stable id of an engine, the thing that can be down: equal for equal kind, base address and key name.
 * `[a-z0-9-]`, at most 60 characters, with a prefix that a person can read.
 */
export function toEngineId(spec: Pick<ProviderSpec, 'kind' | 'baseUrl' | 'apiKeyEnv'>): string {
  const address = spec.baseUrl === null ? '' : spec.baseUrl.replace(/\/+$/, '');
  const digest = createHash('sha256')
    .update(JSON.stringify([spec.kind, address, spec.apiKeyEnv]))
    .digest('hex');
  const readable = `${spec.kind}-${toHost(address)}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${readable.slice(0, 49).replace(/^-+|-+$/g, '')}-${digest.slice(0, 10)}`;
}

function toHost(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}
