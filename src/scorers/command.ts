import { z } from 'zod';
import type { ExecResult, GraderFolder } from '../environments/environment.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { readReport } from './command-report.ts';
import { duration } from './duration.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { scored, unscored } from './verdict.ts';

const options = z.strictObject({
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .describe(
      'Shell text, or a list of program and arguments, run in a copy of the working directory. $ASSAY_GRADER is the directory of the files below, $ASSAY_ANSWER a file with the final answer.',
    ),
  timeout: duration.prefault('60s').describe('The command is ended after this time and gives no score.'),
  files: z
    .record(z.string(), z.string())
    .default({})
    .describe('Files that only the grader gets: path in $ASSAY_GRADER -> path of the file.'),
  report: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      'JSON file that the command writes into $ASSAY_GRADER: { score: 0..1, pass?, explanation? }. It decides instead of the exit code.',
    ),
});

type Options = z.infer<typeof options>;

/** Name of the file that $ASSAY_ANSWER points at. */
const ANSWER_FILE = '.assay-answer';

const OUTPUT_TAIL = 1_200;

/**
 * Exit code 0 scores 1, any other 0, unless a report is declared, which then decides. What the command prints
 * is kept and decides nothing. A command that does not start, is killed or runs too long gives no score.
 */
export const commandScorer: Scorer = {
  kind: 'command',
  options,
  place: 'session',
  needsTarget: () => false,
  score: judge,
};

async function judge(input: ScoreInput): Promise<ScorerVerdict> {
  const { session } = input;
  if (session === null) {
    return unscored('no_session', 'scorer command needs files to look at: give the request an environment');
  }
  const settings = options.parse(input.options);
  const folder = await session.openGraderFolder();
  await writeFiles(folder, settings, input);
  const variables = { ASSAY_GRADER: folder.path, ASSAY_ANSWER: `${folder.path}/${ANSWER_FILE}` };
  const { command, timeout: timeoutMs } = settings;
  const result = await session.exec({ command, timeoutMs, stdin: null, cwd: null, variables }, input.signal);
  const fault = findFault(result, timeoutMs);
  if (fault !== null) return unscored(fault.code, `scorer command: ${fault.message}${toTail(result)}`);
  if (settings.report !== undefined) {
    return readReport({
      folder,
      path: settings.report,
      threshold: input.threshold,
      ending: toEnding(result),
    });
  }
  return scored({
    value: result.exitCode === 0 ? 1 : 0,
    threshold: input.threshold,
    explanation: toEnding(result),
    metrics: { exitCode: result.exitCode, durationMs: result.durationMs },
  });
}

async function writeFiles(folder: GraderFolder, settings: Options, input: ScoreInput): Promise<void> {
  for (const [path, digest] of Object.entries(settings.files)) {
    await folder.writeFile(path, await input.loadBlob(digest));
  }
  await folder.writeFile(ANSWER_FILE, Buffer.from(input.answer, 'utf8'));
}

/** Why the command's end says nothing about the agent's work, or null. */
function findFault(
  result: ExecResult,
  timeoutMs: number,
): { readonly code: string; readonly message: string } | null {
  if (result.timedOut) {
    const measured = `limit ${seconds(timeoutMs)}, measured ${seconds(result.durationMs)}`;
    return {
      code: 'scorer_time_out',
      message: `time-out of the grader's command in phase evaluate: ${measured}`,
    };
  }
  if (result.spawnError !== null) {
    return { code: 'scorer_failed', message: `the command could not be started: ${result.spawnError}` };
  }
  if (result.exitCode === null) {
    return { code: 'scorer_failed', message: `the command was ended by ${result.signal ?? 'a signal'}` };
  }
  if (result.exitCode === 126 || result.exitCode === 127) {
    const cause = result.exitCode === 127 ? 'was not found' : 'could not be executed';
    return {
      code: 'scorer_failed',
      message: `a program ${cause} (exit code ${result.exitCode}); install it or mend the command`,
    };
  }
  return null;
}

const toEnding = (result: ExecResult): string =>
  `exit code ${result.exitCode} after ${seconds(result.durationMs)}${toTail(result)}`;

function toTail(result: ExecResult): string {
  const output = result.output.trimEnd();
  if (output === '') return '; no output';
  const tail = Array.from(output.slice(-2 * OUTPUT_TAIL))
    .slice(-OUTPUT_TAIL)
    .join('');
  return `; output${tail.length < output.length ? ' ends with' : ''}:\n${tail}`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
