import { createHash } from 'node:crypto';
import type { ZodType } from 'zod';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ProviderSpec } from '../domain/run.ts';
import { anthropicParams } from './anthropic-params.ts';
import { anthropicWire } from './anthropic.ts';
import type { ProviderDefinition } from './define-provider.ts';
import { googleParams } from './google-params.ts';
import { googleWire } from './google.ts';
import { MockProvider } from './mock.ts';
import type { MockOptions } from './mock.ts';
import { checkMockModel, mockParams } from './mock-params.ts';
import { openAiCompatibleParams } from './openai-compatible-params.ts';
import { openAiCompatibleWire } from './openai-compatible.ts';
import { openAiParams } from './openai-params.ts';
import { OpenAiProvider } from './openai.ts';
import { findRuleProblems } from './param-rules.ts';
import { formatParamProblem, listParamProblems } from './params.ts';
import type { ParamProblem } from './params.ts';
import { PlugInProvider } from './plug-in-provider.ts';
import type { ModelProvider } from './provider.ts';
import { SdkProvider } from './sdk-provider.ts';

export type ProviderOptions = {
  /** The key itself, or null; it is sent and never logged. */
  readonly apiKey: string | null;
  /** Asked by `mock` only; without it no case has an answer. */
  readonly resolveTarget?: MockOptions['resolveTarget'];
  /** Looked at before the built-in table of failures. */
  readonly rules?: readonly FailureRule[];
};

/** What is to be sent: parameters, and the model that they are for. */
export type ModelParams = { readonly kind: string; readonly model: string; readonly params: JsonObject };

/** What a run file gets of a kind when it says nothing else. */
export type ProviderDefaults = {
  /** Null = a run file must say it, or the kind needs none (`needsAddress`). */
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly needsAddress: boolean;
  /** The API refuses requests without a cap on output. */
  readonly needsOutputLimit: boolean;
};

type KindEntry = ProviderDefaults & {
  readonly create: (spec: ProviderSpec, options: ProviderOptions) => ModelProvider;
  readonly params: ZodType | null;
  /** What the schema alone cannot say. */
  readonly check: (model: ModelParams) => readonly ParamProblem[];
};

const PLAIN = { baseUrl: null, apiKeyEnv: null, needsAddress: false, needsOutputLimit: false };

const BUILT_IN: { readonly [kind: string]: KindEntry } = {
  openai: {
    ...PLAIN,
    baseUrl: 'https://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    create: (spec, options) => new OpenAiProvider({ ...options, baseUrl: toAddress(spec) }),
    params: openAiParams,
    check: findRuleProblems,
  },
  anthropic: {
    ...PLAIN,
    baseUrl: 'https://api.anthropic.com/v1',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
    needsOutputLimit: true,
    create: (spec, options) => new SdkProvider(anthropicWire, { ...options, baseUrl: toAddress(spec) }),
    params: anthropicParams,
    check: findRuleProblems,
  },
  google: {
    ...PLAIN,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    apiKeyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY',
    create: (spec, options) => new SdkProvider(googleWire, { ...options, baseUrl: toAddress(spec) }),
    params: googleParams,
    check: findRuleProblems,
  },
  'openai-compatible': {
    ...PLAIN,
    needsAddress: true,
    create: (spec, options) =>
      new SdkProvider(openAiCompatibleWire, { ...options, baseUrl: toAddress(spec) }),
    params: openAiCompatibleParams,
    check: () => [],
  },
  mock: {
    ...PLAIN,
    create: (_spec, options) =>
      new MockProvider({ resolveTarget: options.resolveTarget ?? (async () => null) }),
    params: mockParams,
    check: ({ model, params }) => checkMockModel(model, params),
  },
};

/** The address that a run file gave, else the kind's own. Throws where there is neither. */
export function toAddress(spec: ProviderSpec): string {
  const address = spec.baseUrl ?? BUILT_IN[spec.kind]?.baseUrl ?? null;
  if (address === null) throw new Error(`provider "${spec.id}" needs a baseUrl`);
  return address;
}

/** The kinds of providers that a program knows: the built-in ones and its plug-ins. */
export type ProviderLookup = {
  readonly kinds: ReadonlyMap<string, ProviderDefaults>;
  /** The adapter for a provider. Keep it: connections and built models are shared by its calls. */
  createProvider(spec: ProviderSpec, options: ProviderOptions): ModelProvider;
  /**
   * Problems of a model's parameters before anything is sent: what the provider cannot send, a value outside
   * its type, what this model refuses.
   */
  findParamProblems(model: ModelParams): readonly ParamProblem[];
};

/** Throws when two providers have the same kind. */
export function createProviderLookup(plugIns: readonly ProviderDefinition[] = []): ProviderLookup {
  const kinds = new Map(Object.entries(BUILT_IN));
  for (const plugIn of plugIns) {
    if (kinds.has(plugIn.kind)) throw new Error(`two providers have the kind "${plugIn.kind}"; rename one`);
    kinds.set(plugIn.kind, toEntry(plugIn));
  }
  const toUnknown = (kind: string): string =>
    `unknown provider kind "${kind}"; known: ${[...kinds.keys()].join(', ')}`;
  return {
    kinds,
    createProvider: (spec, options) => {
      const entry = kinds.get(spec.kind);
      if (entry === undefined) throw new Error(toUnknown(spec.kind));
      return entry.create(spec, options);
    },
    findParamProblems: (model) => {
      const entry = kinds.get(model.kind);
      if (entry === undefined) return [{ path: ['provider'], message: toUnknown(model.kind) }];
      const problems = entry.params === null ? [] : listParamProblems(entry.params, model.params);
      return [...problems, ...entry.check(model)];
    },
  };
}

const toEntry = (plugIn: ProviderDefinition): KindEntry => ({
  ...PLAIN,
  baseUrl: plugIn.baseUrl ?? null,
  apiKeyEnv: plugIn.apiKeyEnv ?? null,
  create: (spec, options) => new PlugInProvider(plugIn, { ...options, baseUrl: spec.baseUrl }),
  params: plugIn.params ?? null,
  check: () => [],
});

const builtIn = createProviderLookup();

export const PROVIDER_KINDS: readonly string[] = Object.keys(BUILT_IN);
export const { createProvider, findParamProblems } = builtIn;

/** As `findParamProblems`, one line each. */
export const checkParams = (checked: ModelParams): string[] =>
  findParamProblems(checked).map(formatParamProblem);

/**
 * Stable id of an engine, the thing that can be down: equal for equal kind, base address and key name.
 * `[a-z0-9-]`, at most 60 characters, with a prefix that a person can read.
 */
export function toEngineId(spec: Pick<ProviderSpec, 'kind' | 'baseUrl' | 'apiKeyEnv'>): string {
  const address = spec.baseUrl === null ? '' : spec.baseUrl.replace(/\/+$/, '');
  return toReadableId(`${spec.kind}-${toHost(address)}`, [spec.kind, address, spec.apiKeyEnv]);
}

/** `[a-z0-9-]`, at most 60 characters: `readable` for people, then what tells it from every other. */
export function toReadableId(readable: string, facts: readonly unknown[]): string {
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  const plain = readable.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${plain.slice(0, 49).replace(/^-+|-+$/g, '')}-${digest.slice(0, 10)}`;
}

function toHost(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}
