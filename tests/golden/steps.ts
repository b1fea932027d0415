/** The calls of an attempt at which something is made to go wrong, by evaluation mode. */
export type Mode = 'reuse' | 'none' | 'fresh';
export const MODES: readonly Mode[] = ['reuse', 'none', 'fresh'];

export type Step = {
  /** Also the id of its case. */
  readonly id: string;
  /** Line of the log. Null = nothing goes wrong. */
  readonly line: string | null;
  readonly modes: readonly Mode[];
  /** Also with sessions that are kept. */
  readonly kept?: boolean;
  /** How often it fails; always unless given. */
  readonly times?: number;
};

const FRESH: readonly Mode[] = ['fresh'];
const REUSE: readonly Mode[] = ['reuse'];

/**
 * In their order. What has nothing to do with the mode goes wrong in `reuse` alone, whose agents have a server of
 * tools: `start` is its start. `model` is a call of the model.
 */
export const STEPS: readonly Step[] = [
  { id: 'nothing', line: null, modes: MODES, kept: true },
  { id: 'open', line: 'task open', modes: MODES },
  { id: 'files', line: 'task write given.txt', modes: REUSE },
  { id: 'setup', line: 'task exec setup', modes: MODES },
  { id: 'start', line: 'task server', modes: REUSE },
  { id: 'run-policy', line: 'task network none', modes: MODES },
  { id: 'model', line: 'callModel', modes: MODES },
  { id: 'tool', line: 'task exec agent', modes: REUSE },
  { id: 'end-processes', line: 'task end processes', modes: REUSE },
  { id: 'find-artifacts', line: 'task find files', modes: REUSE },
  { id: 'keep-artifact', line: 'task download out/answer.txt', modes: MODES },
  { id: 'second-open', line: 'evaluation open', modes: FRESH },
  { id: 'second-setup', line: 'evaluation exec setup', modes: FRESH },
  { id: 'evaluation-policy', line: 'task network allowlist', modes: REUSE },
  { id: 'evaluation-policy', line: 'evaluation network allowlist', modes: FRESH },
  { id: 'restore-artifact', line: 'evaluation upload out/answer.txt', modes: FRESH },
  { id: 'evaluate', line: 'task exec grader', modes: REUSE, kept: true },
  { id: 'evaluate', line: 'evaluation exec grader', modes: FRESH, kept: true },
  { id: 'restore-policy', line: 'task network public', modes: REUSE },
  { id: 'restore-policy', line: 'evaluation network public', modes: FRESH },
  { id: 'second-close', line: 'evaluation close', modes: FRESH, kept: true },
  { id: 'close', line: 'task close', modes: MODES, kept: true },
  // Of a model that fails: the first error is kept.
  { id: 'model-and-close', line: 'task close', modes: REUSE },
  { id: 'record', line: 'gradeAndRecord', modes: MODES, times: 3 },
];

export const stepsOf = (mode: Mode, keep = false): readonly Step[] =>
  STEPS.filter(({ modes, kept = false }) => modes.includes(mode) && (kept || !keep));
