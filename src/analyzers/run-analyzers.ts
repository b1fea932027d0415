import type { AnalysisRow } from '../domain/analysis-row.ts';
import type { Analyzer, Trajectory } from './analyzer.ts';

/** What every analyzer says. One that throws, or gives what is no number, has an error for its own and stops no other. */
export const runAnalyzers = (
  analyzers: readonly Analyzer[],
  trajectory: Trajectory,
): readonly AnalysisRow[] => analyzers.flatMap((analyzer) => runOne(analyzer, trajectory));

function runOne({ name, analyze }: Analyzer, trajectory: Trajectory): readonly AnalysisRow[] {
  try {
    const analysis = analyze(trajectory);
    if (analysis === null) return [];
    const wrong = Object.entries(analysis.facts).find(([, value]) => !Number.isFinite(value));
    if (wrong !== undefined) throw new Error(`fact "${wrong[0]}" is ${wrong[1]}; expected a finite number`);
    return [{ analyzer: name, ...analysis, error: null }];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ analyzer: name, summary: null, facts: {}, error: message.slice(0, 500) }];
  }
}
