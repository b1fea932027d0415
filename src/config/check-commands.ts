import { LONGEST_ARGUMENT_BYTES, type CommandHarness } from '../domain/command-harness.ts';
import type { Budgets, RequestSpec, RunSpec } from '../domain/run.ts';
import type { Suite } from '../domain/suite.ts';
import type { Catalog } from './catalog.ts';

export type CommandCheck = {
  readonly request: RequestSpec;
  readonly suite: Suite;
  readonly spec: Pick<RunSpec, 'budgets' | 'models' | 'providers'>;
  readonly catalog: Catalog;
};

/** What can be known to fail of an external agent before it is started. */
export function findCommandProblems(check: CommandCheck): readonly string[] {
  const { request, spec } = check;
  const { harness, name } = request;
  if (harness.kind !== 'command') return [];
  const problems = [...findLongPrompt(check, harness), ...findUnsent(check, harness)];
  const cap = findCap(spec.budgets);
  if (cap !== null && !harness.proxy && !spec.budgets.allowUnpriced) {
    problems.push(
      `request "${name}": budgets.${cap} cannot hold for an agent that calls its model by itself: set proxy: true on its harness, or budgets.allowUnpriced: true`,
    );
  }
  return problems;
}

function findLongPrompt(
  { request, suite, catalog }: CommandCheck,
  harness: CommandHarness,
): readonly string[] {
  if (harness.prompt.kind !== 'argument') return [];
  const sizes = suite.cases.map(({ testCase }) => ({
    id: testCase.id,
    bytes: Buffer.byteLength(catalog.toPrompt(testCase)),
  }));
  const long = sizes.filter(({ bytes }) => bytes > LONGEST_ARGUMENT_BYTES);
  const [first] = long;
  if (first === undefined) return [];
  const more = long.length > 1 ? ` (and ${long.length - 1} more)` : '';
  return [
    `request "${request.name}": the prompt of case "${first.id}"${more} has ${first.bytes} bytes, and an argument of a command may have ${LONGEST_ARGUMENT_BYTES}: use prompt: stdin, or prompt: { file: PATH }`,
  ];
}

/** The agent makes its own requests: a parameter would be dropped silently. Those of mock models are their script. */
function findUnsent({ request, spec }: CommandCheck, { proxy }: CommandHarness): readonly string[] {
  const models = spec.models.filter(
    ({ id, providerId }) =>
      request.modelIds.includes(id) && spec.providers.find((one) => one.id === providerId)?.kind !== 'mock',
  );
  return models.flatMap(({ id, params }) => {
    const unsent = Object.keys(params).filter((param) => !(proxy && param === 'maxOutputTokens'));
    if (unsent.length === 0) return [];
    return [
      `request "${request.name}": an external agent makes its own requests, so params.${unsent.join(', params.')} of model "${id}" cannot be sent: remove them, or give the agent's own flags in "arguments"`,
    ];
  });
}

const findCap = (budgets: Budgets): string | null =>
  (['maxRunUsd', 'maxModelUsd', 'maxRunTokens'] as const).find((cap) => budgets[cap] !== null) ?? null;
