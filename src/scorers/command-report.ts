import { z } from 'zod';
import type { GraderFolder } from '../environments/environment.ts';
import { SessionFileError } from '../environments/environment.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { quote, scored, unscored } from './verdict.ts';

/** Other keys are left to the grader's own use. */
const report = z.object({
  score: z.number().min(0).max(1),
  pass: z.boolean().optional(),
  explanation: z.string().optional(),
});

/**
 * The verdict of a report file. A report that is missing, not JSON, or outside its contract (type, range, a
 * `pass` at odds with score and threshold) gives no score.
 */
export async function readReport(reading: {
  readonly folder: GraderFolder;
  readonly path: string;
  readonly threshold: number;
  /** How the command ended, for explanations. */
  readonly ending: string;
}): Promise<ScorerVerdict> {
  const { path, threshold, ending } = reading;
  const fail = (problem: string): ScorerVerdict =>
    unscored('scorer_failed', `scorer command: report ${path} ${problem}; ${ending}`);
  const text = await readText(reading.folder, path);
  if (text === null) return fail('was not written to $ASSAY_GRADER');
  const value = parseJson(text);
  if (value === undefined) return fail(`is not JSON: ${quote(text)}`);
  const parsed = report.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path: at, message }) => `${at.join('.') || 'report'}: ${message}`,
    );
    return fail(`is outside its contract, ${problems.join('; ')}`);
  }
  const { score, pass, explanation } = parsed.data;
  if (pass !== undefined && pass !== score >= threshold) {
    return fail(`says pass: ${pass} at score ${score}, but the threshold of the scorer is ${threshold}`);
  }
  return scored({ value: score, threshold, explanation: explanation ?? ending });
}

async function readText(folder: GraderFolder, path: string): Promise<string | null> {
  try {
    return Buffer.from(await folder.readFile(path)).toString('utf8');
  } catch (error) {
    if (error instanceof SessionFileError) return null;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
