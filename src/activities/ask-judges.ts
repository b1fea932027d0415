import type { Cell } from '../domain/ids.ts';
import { listJudges, toJudgePurpose, type JudgeOpinion } from '../domain/judge.ts';
import { redactJson } from '../domain/redact.ts';
import type { ModelSpec, ProviderSpec } from '../domain/run.ts';
import type { AskJudgesInput, AskJudgesResult } from '../domain/grading-step.ts';
import type { ScorerSpec, Target } from '../domain/suite.ts';
import { toEngineId } from '../providers/lookup.ts';
import { judgeOptions, type JudgeOptions } from '../scorers/judge.ts';
import { toQuestion } from '../scorers/judge-question.ts';
import { readReply, type ReadReply } from '../scorers/judge-reply.ts';
import { neutralise } from '../scorers/neutralise.ts';
import { quote } from '../scorers/verdict.ts';
import { findAnswered } from './answered.ts';
import type { Dependencies } from './dependencies.ts';
import { loadAnswer } from './grading.ts';
import { withHeartbeat } from './heartbeat.ts';
import { callJudge, type JudgeReply } from './judge-call.ts';
import { placeOfScorer } from './run-code.ts';
import type { CellPlace } from './run-reader.ts';

/**
 * Activity `askJudges`: the judges of one engine on one answer, one after another in a slot of that engine. What was
 * answered before is not asked again, so that a delivery that was cut off pays nothing twice.
 */
export const createJudging = (dependencies: Dependencies) => ({
  askJudges: (input: AskJudgesInput): Promise<AskJudgesResult> =>
    withHeartbeat((signal) => ask(dependencies, input, signal)),
});

type Asking = {
  readonly input: AskJudgesInput;
  readonly place: CellPlace;
  readonly spec: ScorerSpec;
  readonly options: JudgeOptions;
  readonly judge: ModelSpec;
  readonly provider: ProviderSpec;
  /** Of the judge among those of its scorer, from 0. */
  readonly position: number;
  readonly answer: string;
  readonly reference: Target | null;
  readonly signal: AbortSignal;
};

async function ask(
  dependencies: Dependencies,
  input: AskJudgesInput,
  signal: AbortSignal,
): Promise<AskJudgesResult> {
  const place = await dependencies.runs.find(input.cell);
  const { answerDigest } = await findAnswered(dependencies, input);
  const { text: answer } = await loadAnswer(dependencies, answerDigest);
  const opinions: JudgeOpinion[] = [];
  for (const asked of listAsked(place, input.engineId)) {
    const reference = asked.options.reference === 'none' ? null : await dependencies.runs.target(input.cell);
    const opinion = await form(dependencies, { ...asked, input, place, answer, reference, signal });
    if (opinion === null) return { kind: 'stopped' };
    opinions.push(opinion);
  }
  signal.throwIfAborted();
  const kept = redactJson(opinions, dependencies.redact);
  return { kind: 'asked', opinionsDigest: await dependencies.blobs.saveJson(kept) };
}

type Asked = Pick<Asking, 'spec' | 'options' | 'judge' | 'provider' | 'position'>;

/** Each scorer of the case with each of its judges that is reached through this engine. */
function listAsked({ plan, scorers }: CellPlace, engineId: string): readonly Asked[] {
  const { judges = [], providers, module } = plan.spec;
  return scorers
    .filter(({ kind }) => placeOfScorer(module, kind) === 'judge')
    .flatMap((spec) =>
      listJudges(spec.options, judges).flatMap((id, position) => {
        const judge = judges.find((one) => one.id === id);
        const provider = providers.find((one) => one.id === judge?.providerId);
        if (judge === undefined || provider === undefined || toEngineId(provider) !== engineId) return [];
        return [{ spec, options: judgeOptions.parse(spec.options), judge, provider, position }];
      }),
    );
}

/** Null = the run takes no more calls. A reply that cannot be read is asked for once more. */
async function form(dependencies: Dependencies, asking: Asking): Promise<JudgeOpinion | null> {
  const { spec, judge, options, answer } = asking;
  const from = { scorer: spec.name, judge: judge.id };
  if (answer.length > options.maxAnswerCharacters) {
    const message = `the answer has ${answer.length} characters, and maxAnswerCharacters is ${options.maxAnswerCharacters}: raise it to have it judged`;
    return { ...from, kind: 'none', code: 'too_long', message };
  }
  const first = await consult(dependencies, asking, 1);
  const last = first.kind === 'unreadable' ? await consult(dependencies, asking, 2) : first;
  switch (last.kind) {
    case 'stopped':
      return null;
    case 'silent':
      return { ...from, kind: 'none', code: last.code, message: last.message };
    case 'unreadable': {
      const message = `it was asked twice, and ${last.why}; it said ${quote(last.text, RAW_CHARACTERS)}`;
      return { ...from, kind: 'none', code: 'unreadable', message };
    }
    case 'verdict':
      return { ...from, ...last };
  }
}

const RAW_CHARACTERS = 600;

type Consulted =
  | Exclude<ReadReply, { kind: 'unreadable' }>
  | (Extract<ReadReply, { kind: 'unreadable' }> & { readonly text: string })
  | Exclude<JudgeReply, { kind: 'replied' }>;

async function consult(dependencies: Dependencies, asking: Asking, question: 1 | 2): Promise<Consulted> {
  const { input, place, spec, options, judge, provider, position, answer, reference, signal } = asking;
  const reply = await callJudge(dependencies, {
    key: {
      ...toAttemptKey(input.cell),
      tryNumber: input.tryNumber,
      purpose: toJudgePurpose(spec, input.scoreVersion),
      step: 2 * position + question,
    },
    place,
    judge,
    provider,
    messages: toQuestion({
      rubric: options.rubric,
      scale: options.scale,
      testCase: place.testCase,
      reference,
      context: place.plan.spec.context,
      answer,
      isAgain: question === 2,
    }),
    signal,
  });
  if (reply.kind !== 'replied') return reply;
  const { text, finishReason } = reply;
  const isCut = finishReason === 'length';
  const read = readReply({ text, isCut, scale: options.scale, judged: [answer, neutralise(answer)] });
  return read.kind === 'unreadable' ? { ...read, text } : read;
}

const toAttemptKey = ({ runId, task, attempt, generation }: Cell) => ({ runId, task, attempt, generation });
