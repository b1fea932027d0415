/**
 * The calls of an attempt at which something is made to go wrong, by evaluation mode; `command` is an external agent
 * that calls its model through the recording proxy, and is graded in its session.
 */
export type Mode = 'reuse' | 'none' | 'fresh' | 'command';
export const MODES: readonly Mode[] = ['reuse', 'none', 'fresh', 'command'];

export type Step = {
  /** Also the id of its case. */
  readonly id: string;
  /** Line of the log. Null = nothing goes wrong. */
  readonly line: string | null;
  readonly modes: readonly Mode[];
  /** With sessions that are kept: also in the suite, by `npm run golden` alone (unless given), or not at all. */
  readonly kept?: 'suite' | 'never';
  /** The model does it by its script: it fails, or hangs. */
  readonly byModel?: boolean;
  /** Waits until all others wait: it has a short time-out of its own. */
  readonly isShort?: boolean;
  /** How often it fails; always unless given. */
  readonly times?: number;
};

const FRESH: readonly Mode[] = ['fresh'];
const REUSE: readonly Mode[] = ['reuse'];
const IN_SESSION: readonly Mode[] = ['reuse', 'command'];
const LOOP: readonly Mode[] = ['reuse', 'none', 'fresh'];
const COMMAND: readonly Mode[] = ['command'];

/**
 * In their order. What has nothing to do with the mode goes wrong in `reuse` alone, whose agents have a server of
 * tools: `start` is its start. `model` is a call of the model.
 */
export const STEPS: readonly Step[] = [
  { id: 'nothing', line: null, modes: MODES, kept: 'suite' },
  { id: 'open', line: 'task open', modes: MODES },
  { id: 'files', line: 'task write given.txt', modes: REUSE },
  { id: 'setup', line: 'task exec setup', modes: MODES },
  { id: 'start', line: 'task server', modes: REUSE, isShort: true },
  { id: 'run-policy', line: 'task network none', modes: MODES },
  { id: 'proxy', line: 'task serve its model', modes: COMMAND },
  { id: 'model', line: 'callModel', modes: LOOP, byModel: true },
  { id: 'model', line: 'task exec agent', modes: COMMAND, byModel: true },
  { id: 'tool', line: 'task exec agent', modes: REUSE },
  { id: 'agent', line: 'task exec agent', modes: COMMAND },
  { id: 'end-processes', line: 'task end processes', modes: IN_SESSION },
  { id: 'find-artifacts', line: 'task find files', modes: REUSE },
  { id: 'keep-artifact', line: 'task download out/answer.txt', modes: MODES },
  { id: 'second-open', line: 'evaluation open', modes: FRESH },
  { id: 'second-setup', line: 'evaluation exec setup', modes: FRESH },
  { id: 'evaluation-policy', line: 'task network allowlist', modes: IN_SESSION },
  { id: 'evaluation-policy', line: 'evaluation network allowlist', modes: FRESH },
  { id: 'restore-artifact', line: 'evaluation upload out/answer.txt', modes: FRESH },
  { id: 'evaluate', line: 'task exec grader', modes: IN_SESSION },
  { id: 'evaluate', line: 'evaluation exec grader', modes: FRESH, kept: 'suite' },
  { id: 'restore-policy', line: 'task network public', modes: IN_SESSION },
  { id: 'restore-policy', line: 'evaluation network public', modes: FRESH },
  { id: 'second-close', line: 'evaluation close', modes: FRESH, kept: 'suite' },
  { id: 'close', line: 'task close', modes: MODES, kept: 'suite' },
  // Of a model that fails: the first error is kept.
  { id: 'model-and-close', line: 'task close', modes: IN_SESSION, kept: 'never' },
  { id: 'record', line: 'gradeAndRecord', modes: MODES, times: 3, isShort: true },
];

/** Whether sessions are kept at every step, which takes as long again. */
export const KEEPS_EVERYWHERE = process.env['ASSAY_GOLDEN'] === 'all';

export const stepsOf = (mode: Mode, keep = false): readonly Step[] =>
  STEPS.filter(
    ({ modes, kept }) =>
      modes.includes(mode) && (!keep || kept === 'suite' || (KEEPS_EVERYWHERE && kept !== 'never')),
  );
