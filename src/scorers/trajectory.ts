import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { compareJson } from './json-compare.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { listToolUses, type ToolUse } from './tool-uses.ts';
import { scored, unscored } from './verdict.ts';

const names = z.array(z.string().min(1)).min(1);
const limit = z.int().min(0).max(1_000_000);

const options = z
  .strictObject({
    uses: names.exactOptional().describe('Tools that are called at least once.'),
    avoids: names.exactOptional().describe('Tools that are not called.'),
    order: names
      .exactOptional()
      .describe(
        'Tools in the order of their calls; others may stand in between, and one name may stand twice.',
      ),
    calls: z
      .array(
        z.strictObject({
          tool: z.string().min(1).describe('Name of the tool.'),
          arguments: z.record(z.string(), z.json()).default({}).describe('What the arguments contain.'),
          times: z.int().min(1).exactOptional().describe('Exactly so often; at least once unless given.'),
        }),
      )
      .min(1)
      .exactOptional()
      .describe('Calls by tool and arguments.'),
    maxSteps: limit.exactOptional().describe('Answers of the model at most.'),
    minSteps: limit.exactOptional().describe('Answers of the model at least.'),
    maxCalls: limit.exactOptional().describe('Tool calls at most.'),
    maxFailedCalls: limit.exactOptional().describe('Calls that ended as anything but a success, at most.'),
  })
  .refine(
    (given) => Object.keys(given).length > 0,
    'says nothing to check: give uses, avoids, order, calls or a limit',
  );

type Options = z.infer<typeof options>;

/** Looks at the way and not at the answer: which tools were called, in which order, with what, in how many steps. */
export const trajectory: Scorer = {
  kind: 'trajectory',
  options,
  place: 'process',
  needsTarget: () => false,
  score: async (input) => judge(input),
};

type Way = { readonly uses: readonly ToolUse[]; readonly steps: number };

/** One demand: whether it holds, and what is wrong when it does not. */
type Check = { readonly holds: boolean; readonly wrong: string };

function judge(input: ScoreInput): ScorerVerdict {
  if (input.about === undefined)
    return unscored('no_transcript', 'scorer trajectory was given no transcript');
  const { transcript } = input.about;
  const way = {
    uses: listToolUses(transcript),
    steps: transcript.filter(({ role }) => role === 'assistant').length,
  };
  const checks = listChecks(options.parse(input.options), way);
  const wrong = checks.filter(({ holds }) => !holds).map((check) => check.wrong);
  return scored({
    value: (checks.length - wrong.length) / checks.length,
    threshold: input.threshold,
    explanation: wrong.length === 0 ? `${checks.length} of ${checks.length} checks hold` : wrong.join('; '),
    metrics: {
      steps: way.steps,
      calls: way.uses.length,
      failedCalls: way.uses.filter(({ status }) => status !== 'success').length,
    },
  });
}

const listChecks = (wanted: Options, way: Way): readonly Check[] => [
  ...(wanted.uses ?? []).map((tool) => ({ holds: isUsed(way, tool), wrong: `${tool} was not called` })),
  ...(wanted.avoids ?? []).map((tool) => ({ holds: !isUsed(way, tool), wrong: `${tool} was called` })),
  ...(wanted.order === undefined ? [] : [checkOrder(wanted.order, way)]),
  ...(wanted.calls ?? []).map((call) => checkCall(call, way)),
  ...listLimits(wanted, way),
];

const isUsed = ({ uses }: Way, tool: string): boolean => uses.some((use) => use.tool === tool);

function checkOrder(order: readonly string[], { uses }: Way): Check {
  let at = 0;
  for (const { tool } of uses) if (tool === order[at]) at += 1;
  const seen = uses.map(({ tool }) => tool).join(', ');
  return {
    holds: at === order.length,
    wrong: `the order ${order.join(', ')} was not kept: ${seen || 'no calls'}`,
  };
}

function checkCall(call: NonNullable<Options['calls']>[number], { uses }: Way): Check {
  const wanted: JsonObject = call.arguments;
  const found = uses.filter((use) => use.tool === call.tool && contains(use, wanted)).length;
  const shown = `${call.tool}(${JSON.stringify(wanted)})`;
  return call.times === undefined
    ? { holds: found > 0, wrong: `${shown} was not called` }
    : { holds: found === call.times, wrong: `${shown} was called ${found} times, expected ${call.times}` };
}

function contains({ args }: ToolUse, wanted: JsonObject): boolean {
  if (args === null) return false;
  if (Object.keys(wanted).length === 0) return true;
  const { matched, expected } = compareJson(wanted, args, 'subset');
  return matched === expected;
}

function listLimits({ maxSteps, minSteps, maxCalls, maxFailedCalls }: Options, way: Way): readonly Check[] {
  const failed = way.uses.filter(({ status }) => status !== 'success').length;
  const atMost = (what: string, measured: number, most: number | undefined): readonly Check[] =>
    most === undefined
      ? []
      : [{ holds: measured <= most, wrong: `${measured} ${what}, at most ${most} expected` }];
  return [
    ...atMost('steps', way.steps, maxSteps),
    ...atMost('calls', way.uses.length, maxCalls),
    ...atMost('failed calls', failed, maxFailedCalls),
    ...(minSteps === undefined
      ? []
      : [{ holds: way.steps >= minSteps, wrong: `${way.steps} steps, at least ${minSteps} expected` }]),
  ];
}
