import { redactPatterns, type Redactor } from '../domain/redact.ts';
import { createCollecting } from './collect.ts';
import { createJudging } from './ask-judges.ts';
import type { Dependencies } from './dependencies.ts';
import { createEvaluating } from './evaluate.ts';
import { toApplicationFailure } from './failure.ts';
import { createGrading } from './grading.ts';
import { createHostSearch } from './lost-host.ts';
import { createModelCalls } from './model-call.ts';
import { createPreparing } from './prepare.ts';
import { createRequestSteps } from './prepare-request.ts';
import { createProcessGrading } from './process-grading.ts';
import { createAgentRuns } from './run-agent.ts';
import { createRunControl } from './run-control.ts';
import { createRunEnds } from './run-ends.ts';
import { createSessions } from './sessions.ts';
import { createToolRuns } from './tool-run.ts';

/** Every activity of Assay on the given real things; each error leaves as an ApplicationFailure without secrets. */
export const createActivities = (dependencies: Dependencies) =>
  wrapAll((text) => redactPatterns(dependencies.redact(text)), {
    ...createPreparing(dependencies),
    ...createRequestSteps(dependencies),
    ...createModelCalls(dependencies),
    ...createToolRuns(dependencies),
    ...createAgentRuns(dependencies),
    ...createSessions(dependencies),
    ...createCollecting(dependencies),
    ...createEvaluating(dependencies),
    ...createHostSearch(dependencies),
    ...createGrading(dependencies),
    ...createProcessGrading(dependencies),
    ...createJudging(dependencies),
    ...createRunControl(dependencies),
    ...createRunEnds(dependencies),
  });

export type Activities = ReturnType<typeof createActivities>;

type AnyActivities = Record<string, (input: never) => Promise<unknown>>;

function wrapAll<T extends AnyActivities>(redact: Redactor['redact'], activities: T): T {
  const wrapped = Object.entries(activities).map(([name, activity]) => [name, wrap(redact, activity)]);
  return Object.fromEntries(wrapped) as T;
}

const wrap =
  (redact: Redactor['redact'], activity: (input: never) => Promise<unknown>) =>
  async (input: never): Promise<unknown> => {
    try {
      return await activity(input);
    } catch (error) {
      throw toApplicationFailure(error, redact);
    }
  };
