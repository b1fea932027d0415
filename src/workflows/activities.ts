import * as workflow from '@temporalio/workflow';
import type { AskJudgesInput, AskJudgesResult } from '../domain/grading-step.ts';
import type { CallModelInput, CallModelResult } from '../domain/step.ts';
import type { Activities } from '../activities/index.ts';
import { WORKFLOW_QUEUE } from './messages.ts';

/** Failures of ours that no retry can cure; every group lists those that its activities can throw. */
const NEVER_CURED = [
  'InvalidRun',
  'UnknownRun',
  'OutsidePlan',
  'PayloadTooLarge',
  'EnvironmentLost',
  'Refused',
];

/**
 * Said everywhere: the SDK's own default is to go on at once (whatever its documentation says), and then a
 * session would be closed while it is being opened, or its files graded.
 */
const WAIT = { cancellationType: 'WAIT_CANCELLATION_COMPLETED' } as const;

/** A host that lives takes up a step of its sessions within this time. */
const TAKEN_WITHIN = '60s';

const storeRetry: workflow.ActivityOptions['retry'] = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '10s',
  nonRetryableErrorTypes: NEVER_CURED,
};

/** Reading, planning, settling: the store may be away for a while, so these go on until it is back. */
export const planning = workflow.proxyActivities<Activities>({
  ...WAIT,
  startToCloseTimeout: '30m',
  heartbeatTimeout: '30s',
  retry: storeRetry,
});

/** As `planning`, on one host: what a run needs is there alone. */
export const preparingOn = (hostId: string) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: `assay-host-${hostId}`,
    scheduleToStartTimeout: TAKEN_WITHIN,
    startToCloseTimeout: '30m',
    heartbeatTimeout: '30s',
    retry: storeRetry,
  });

/** What a local activity does, when that has failed: short, and without heartbeats. */
const writing = workflow.proxyActivities<Activities>({
  ...WAIT,
  startToCloseTimeout: '5m',
  retry: storeRetry,
});

/** Ends of runs: before other work, and shielded by the caller. */
export const closing = workflow.proxyActivities<Activities>({
  ...WAIT,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: storeRetry,
  priority: { priorityKey: 1 },
});

/**
 * A model call; its retries are counted in the store's row, so the server's are without limit, and its
 * time-outs are the activity's own. The id keeps a replay from mistaking one cell's answer for another's.
 */
export function callModel(
  input: CallModelInput,
  {
    queue,
    summary,
    priorityKey,
  }: { readonly queue: string; readonly summary: string; readonly priorityKey: number },
): Promise<CallModelResult> {
  const { cell, step } = input;
  const activityId = `${cell.task}/a${cell.attempt}/t${input.tryNumber}/s${step}`;
  return onEngine({ activityId, runId: cell.runId, queue, summary, priorityKey }).callModel(input);
}

/** Judges of one engine: before calls of agents, because what they judge is paid for. */
export function askJudges(
  input: AskJudgesInput,
  { queue, summary }: { readonly queue: string; readonly summary: string },
): Promise<AskJudgesResult> {
  const { cell, engineId, scoreVersion } = input;
  const activityId = `${cell.task}/a${cell.attempt}/t${input.tryNumber}/j${scoreVersion}/${engineId}`;
  return onEngine({ activityId, runId: cell.runId, queue, summary, priorityKey: 2 }).askJudges(input);
}

type EngineCall = {
  readonly activityId: string;
  readonly runId: string;
  readonly queue: string;
  readonly summary: string;
  readonly priorityKey: number;
};

const onEngine = ({ activityId, runId, queue, summary, priorityKey }: EngineCall) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: queue,
    activityId,
    startToCloseTimeout: '12h',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', maximumInterval: '10s', nonRetryableErrorTypes: NEVER_CURED },
    priority: { priorityKey, fairnessKey: runId.slice(0, 64) },
    summary: summarize(summary),
  });

/**
 * Opening a session: slots of the queue are the free capacity of the hosts that offer this kind. Without an
 * environment there is nothing to open, and any worker answers.
 */
export const opening = (kind: string) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: kind === 'none' ? WORKFLOW_QUEUE : `assay-env-${kind}`,
    startToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', maximumInterval: '30s', nonRetryableErrorTypes: NEVER_CURED },
  });

type ToolStep = { readonly summary: string; readonly timeoutMs: number };

/** A tool ends by its own limit; the activity around it gives it this much more. */
const TOOL_GRACE_MS = 30_000;

/** An external agent's output and files are looked at and kept in this time after its end. */
const AGENT_GRACE_MS = 600_000;

/** Everything bound to an open session goes to the host that owns it. `timeoutMs` is the tool's own limit. */
export const onHost = (hostId: string, step: ToolStep) => onHostWithin(hostId, step, TOOL_GRACE_MS);

/** `timeoutMs` is the agent's own limit. */
export const externalAgent = (hostId: string, step: ToolStep) => onHostWithin(hostId, step, AGENT_GRACE_MS);

const onHostWithin = (hostId: string, { summary, timeoutMs }: ToolStep, graceMs: number) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: `assay-host-${hostId}`,
    scheduleToStartTimeout: TAKEN_WITHIN,
    startToCloseTimeout: timeoutMs + graceMs,
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', maximumInterval: '30s', nonRetryableErrorTypes: NEVER_CURED },
    summary: summarize(summary),
  });

/** Grading in a session; a grader that never gets through leaves its attempt unscored. */
export const grading = (hostId: string, summary = 'grade in the session') =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: `assay-host-${hostId}`,
    scheduleToStartTimeout: TAKEN_WITHIN,
    startToCloseTimeout: '2h',
    heartbeatTimeout: '30s',
    retry: {
      initialInterval: '1s',
      maximumInterval: '30s',
      maximumAttempts: 20,
      nonRetryableErrorTypes: NEVER_CURED,
    },
    summary,
  });

/** Code of the run file, in processes of a worker; those of one worker are as many as its slots. */
export const inProcess = ({ summary, timeoutMs }: ToolStep) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: 'assay-process',
    startToCloseTimeout: timeoutMs + TOOL_GRACE_MS,
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', maximumInterval: '30s', nonRetryableErrorTypes: NEVER_CURED },
    summary: summarize(summary),
  });

/**
 * Closing: own short policy, so that a host that is gone, or what cannot be closed, holds no attempt for long. The
 * reaper has the last word.
 */
export const cleanup = (hostId: string) =>
  workflow.proxyActivities<Activities>({
    ...WAIT,
    taskQueue: `assay-host-${hostId}`,
    scheduleToStartTimeout: TAKEN_WITHIN,
    startToCloseTimeout: '2m',
    scheduleToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: {
      initialInterval: '1s',
      maximumInterval: '10s',
      maximumAttempts: 3,
      nonRetryableErrorTypes: NEVER_CURED,
    },
    priority: { priorityKey: 1 },
    summary: 'close the session',
  });

/** Without a summary: the Temporal UI shows none on local activities. */
const local = workflow.proxyLocalActivities<Activities>({
  ...WAIT,
  startToCloseTimeout: '5s',
  retry: { initialInterval: '200ms', maximumAttempts: 3, nonRetryableErrorTypes: NEVER_CURED },
});

/** Local, and a normal activity when that fails. Called by the recorder alone. */
export const gradeAndRecord: Activities['gradeAndRecord'] = (input) =>
  localFirst(
    () => local.gradeAndRecord(input),
    () => writing.gradeAndRecord(input),
  );

export const listTasks: Activities['listTasks'] = (input) =>
  localFirst(
    () => local.listTasks(input),
    () => writing.listTasks(input),
  );

async function localFirst<T>(first: () => Promise<T>, normal: () => Promise<T>): Promise<T> {
  try {
    return await first();
  } catch (error) {
    const cause = error instanceof workflow.ActivityFailure ? error.cause : undefined;
    const final = cause instanceof workflow.ApplicationFailure && NEVER_CURED.includes(cause.type ?? '');
    if (workflow.isCancellation(error) || final) throw error;
    return await normal();
  }
}

/** Which try of which attempt a step belongs to, as summaries name it. */
export const nameTry = ({ cell, tryNumber }: Pick<CallModelInput, 'cell' | 'tryNumber'>): string =>
  `${cell.modelId} · ${cell.caseId} · attempt ${cell.attempt}${tryNumber > 1 ? ` · try ${tryNumber}` : ''}`;

/** Summaries hold at most 400 bytes. */
export const summarize = (text: string): string => {
  const flat = text.toWellFormed().replaceAll(/\s+/g, ' ');
  return flat.length > 100 ? `${flat.slice(0, 99)}…` : flat;
};
