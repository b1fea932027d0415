import { ALL_ARTIFACTS } from './artifacts.ts';
import type { CommandHarness } from './command-harness.ts';
import { listJudges } from './judge.ts';
import type { McpServerSpec } from './mcp-server.ts';
import type { RunModule } from './run-module.ts';
import type { HarnessSpec, ModelSpec, ProviderSpec, RequestSpec, RunSpec } from './run.ts';
import { mergeLimits, type ScorerSpec, type Target, type TestCase } from './suite.ts';
import type { ToolPolicy } from './tool-policy.ts';

/**
 * What can change the answer of a cell, in two parts: the setup that cases share, and the case. Two cells with equal
 * parts and the same attempt index may stand for each other. Names of runs, requests and models, places of files,
 * prices, keys, how often and how many at a time are no part of it (SPEC 9).
 */

/** Raised when Assay itself comes to ask models or agents in another way, so that older answers are not taken. */
const HARNESS_VERSION = 1;

/** Raised when a scorer of Assay's comes to judge in another way. */
const GRADING_VERSION = 1;

export type SetupFacts = {
  readonly spec: Pick<RunSpec, 'context' | 'module'>;
  readonly request: RequestSpec;
  readonly model: ModelSpec;
  readonly provider: ProviderSpec;
  /** The policy in force of each tool that the harness names. */
  readonly policyOf: (tool: string) => ToolPolicy | null;
};

/** The shared part: model, harness, environment, context. As plain values, so that two of them can be compared. */
export const toSetup = (facts: SetupFacts): object => ({
  harnessVersion: HARNESS_VERSION,
  model: toModel(facts),
  harness: toHarness(facts),
  environment: toEnvironment(facts.request),
  context: facts.spec.context,
});

/** Of a kind that the run file brings along, its code is part of the answer. */
const toModel = ({ spec: { module }, request, model, provider }: SetupFacts): object => ({
  kind: provider.kind,
  baseUrl: provider.baseUrl,
  model: model.model,
  params: model.params,
  code: module?.providers.some(({ kind }) => kind === provider.kind) === true ? module.digest : undefined,
  // A cap in money ends agents sooner where tokens cost more.
  price: request.limits.attemptCostUsd === null ? undefined : model.price,
});

function toHarness(facts: SetupFacts): object {
  const { harness } = facts.request;
  switch (harness.kind) {
    case 'direct':
      return { kind: 'direct' };
    case 'agent':
      return {
        kind: 'agent',
        maxSteps: harness.maxSteps,
        tools: toTools(facts, harness),
        mcp: (harness.mcp ?? []).map(toServer),
      };
    case 'command':
      return toCommand(harness);
  }
}

/** By name, so that a difference names its tool; their order is what the model reads. */
function toTools(
  { spec: { module }, policyOf }: SetupFacts,
  { tools }: Extract<HarnessSpec, { kind: 'agent' }>,
): object {
  const each = tools.map((name) => [name, { policy: policyOf(name), ...toOwnTool(module, name) }] as const);
  return { order: tools, ...Object.fromEntries(each) };
}

function toOwnTool(module: RunModule | undefined, name: string): object {
  const own = module?.tools.find(({ schema }) => schema.name === name);
  return module === undefined || own === undefined ? {} : { schema: own.schema, code: module.digest };
}

/** Names of variables with keys are left out. */
const toServer = ({ name, transport, tools, policies }: McpServerSpec): object => ({
  name,
  tools,
  policies,
  transport:
    transport.kind === 'http'
      ? { kind: 'http', url: transport.url, headers: Object.keys(transport.headersEnv).toSorted() }
      : transport,
});

const toCommand = ({ preset: _preset, variablesEnv, ...command }: CommandHarness): object => ({
  ...command,
  variablesEnv: Object.keys(variablesEnv).toSorted(),
});

/** How long sessions are kept says nothing of what happened in them. */
function toEnvironment({ environment, evaluation, artifacts }: RequestSpec): object {
  if (environment.kind === 'none') return { kind: 'none' };
  const { keepMs: _kept, network, ...rest } = environment;
  const kept = artifacts ?? (evaluation === 'fresh' ? ALL_ARTIFACTS : null);
  return { ...rest, network: { baseline: network.baseline, run: network.run }, artifacts: kept };
}

export type ContentFacts = {
  readonly testCase: TestCase;
  readonly target: Target | null;
  readonly request: Pick<RequestSpec, 'limits'>;
  readonly provider: Pick<ProviderSpec, 'kind'>;
};

/** The part of the case: all that an agent sees of it, and the limits that hold. Scripted models see the target, too. */
export const toContent = ({ testCase, target, request, provider }: ContentFacts): object => ({
  id: testCase.id,
  input: testCase.input,
  system: testCase.system,
  choices: testCase.choices,
  files: testCase.files,
  setup: testCase.setup,
  limits: mergeLimits(request.limits, testCase.limits),
  target: provider.kind === 'mock' ? target : undefined,
});

export type GradingFacts = {
  readonly spec: Pick<RunSpec, 'module' | 'judges' | 'providers'>;
  readonly request: Pick<RequestSpec, 'evaluation' | 'environment'>;
  /** The case's own, else the suite's. */
  readonly scorers: readonly ScorerSpec[];
  readonly testCase: Pick<TestCase, 'metadata'>;
  readonly target: Target | null;
  /** Whether one of the scorers grades inside a session. */
  readonly inSession: boolean;
};

/** What can change the score of an answer: with another one, the answer is graded again and nothing is run. */
export const toGrading = ({ spec: { module, ...spec }, ...facts }: GradingFacts): object => ({
  gradingVersion: GRADING_VERSION,
  scorers: Object.fromEntries(facts.scorers.map(({ name, ...scorer }) => [name, scorer])),
  target: facts.target,
  metadata: facts.testCase.metadata,
  code: facts.scorers.some(({ kind }) => module?.scorers.some(({ name }) => name === kind))
    ? module?.digest
    : undefined,
  session: facts.inSession ? toSessionGrading(facts.request) : undefined,
  judges: toJudges(spec, facts.scorers),
});

/** Whom the scorers ask; undefined = nobody. */
function toJudges(
  { judges = [], providers }: Pick<RunSpec, 'judges' | 'providers'>,
  scorers: readonly ScorerSpec[],
): object | undefined {
  const asked = new Set(
    scorers.filter(({ kind }) => kind === 'judge').flatMap(({ options }) => listJudges(options, judges)),
  );
  const each = judges.flatMap((judge) => {
    const provider = providers.find(({ id }) => id === judge.providerId);
    if (provider === undefined || !asked.has(judge.id)) return [];
    const { kind, baseUrl } = provider;
    return [[judge.id, { kind, baseUrl, model: judge.model, params: judge.params }] as const];
  });
  return each.length === 0 ? undefined : Object.fromEntries(each);
}

const toSessionGrading = ({ evaluation, environment }: GradingFacts['request']): object => ({
  evaluation,
  network: environment.kind === 'none' ? null : environment.network.evaluation,
});
