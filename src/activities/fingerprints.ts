import { toCanonicalJson } from '../domain/canonical-json.ts';
import { toContent, toGrading, toSetup } from '../domain/fingerprint.ts';
import type { PlannedTask } from '../domain/order-tasks.ts';
import type { ModelSpec, RequestSpec, RunSpec } from '../domain/run.ts';
import type { ScorerSpec, Suite, SuiteCase } from '../domain/suite.ts';
import { toDigest } from '../store/blobs.ts';
import type { PreparedTask, TaskPrints } from '../store/prepared-run.ts';
import type { Dependencies } from './dependencies.ts';
import { providerOf } from './preflight.ts';
import type { ReadRun } from './read-document.ts';
import { findRunTool, placeOfScorer } from './run-code.ts';

export type PrintedTasks = {
  readonly tasks: readonly PreparedTask[];
  readonly setups: ReadonlyMap<string, string>;
};

/** Every task of a run with its fingerprints; what several tasks share is digested once. */
export function printTasks(
  dependencies: Pick<Dependencies, 'modules'>,
  { spec, suites }: ReadRun,
  tasks: readonly PlannedTask[],
): PrintedTasks {
  const setups = new Map<string, string>();
  const requests = spec.requests.map((request) => {
    const suite = suites.get(request.suiteKey);
    if (suite === undefined) throw new Error(`the document holds no suite "${request.suiteKey}"`);
    return new RequestPrints(dependencies, { spec, request, suite }, setups);
  });
  const printed = tasks.map((task) => {
    const prints = requests[task.requestIndex]?.of(task);
    if (prints === undefined) throw new Error(`no request ${task.requestIndex} in the run`);
    return { ...task, prints };
  });
  return { tasks: printed, setups };
}

type Place = { readonly spec: RunSpec; readonly request: RequestSpec; readonly suite: Suite };
type GradedPlace = Pick<Place, 'spec' | 'request'> & { readonly suite: Pick<Suite, 'scorers'> };
type Grading = Pick<TaskPrints, 'gradingDigest' | 'gradable'>;

/** The fingerprints of one request: of its models, of its cases, and of both. */
class RequestPrints {
  private readonly place: Place;
  private readonly cases: ReadonlyMap<string, SuiteCase>;
  private readonly setupDigests: ReadonlyMap<string, string>;
  /** Two of a case: scripted models see more of it. */
  private readonly contents = new Map<string, string>();
  private readonly gradings = new Map<string, Grading>();

  constructor(dependencies: Pick<Dependencies, 'modules'>, place: Place, setups: Map<string, string>) {
    this.place = place;
    this.cases = new Map(place.suite.cases.map((one) => [one.testCase.id, one]));
    const models = place.spec.models.filter(({ id }) => place.request.modelIds.includes(id));
    this.setupDigests = new Map(
      models.map((model) => {
        const text = printSetup(dependencies, place, model);
        const digest = toDigest(Buffer.from(text));
        setups.set(digest, text);
        return [model.id, digest];
      }),
    );
  }

  of({ modelId, caseId }: PlannedTask): TaskPrints {
    const { spec, request } = this.place;
    const found = this.cases.get(caseId);
    const model = spec.models.find(({ id }) => id === modelId);
    const setupDigest = this.setupDigests.get(modelId);
    if (found === undefined || model === undefined || setupDigest === undefined)
      throw new Error(`"${modelId}" on case "${caseId}" is not in request "${request.name}"`);
    const provider = providerOf(spec, model);
    const contentDigest = remember(this.contents, `${provider.kind === 'mock'}/${caseId}`, () =>
      digest(toContent({ ...found, request, provider })),
    );
    const grading = remember(this.gradings, caseId, () => printGrading(this.place, found));
    return { setupDigest, contentDigest, ...grading };
  }
}

const printSetup = (
  { modules }: Pick<Dependencies, 'modules'>,
  { spec, request }: Place,
  model: ModelSpec,
): string =>
  toCanonicalJson(
    toSetup({
      spec,
      request,
      model,
      provider: providerOf(spec, model),
      policyOf: (tool) =>
        findRunTool(modules, { owner: { spec }, harness: request.harness }, tool)?.policy ?? null,
    }),
  );

/** What the scores of a case depend on, and whether an answer to it can be graded later. */
export function printGrading(
  { spec, request, suite }: GradedPlace,
  { testCase, target }: SuiteCase,
): Grading {
  const scorers = testCase.scorers ?? suite.scorers;
  const inSession = gradesInSession(spec, scorers);
  const gradingDigest = digest(toGrading({ spec, request, scorers, testCase, target, inSession }));
  return { gradingDigest, gradable: isGradable(request, inSession) };
}

const gradesInSession = (spec: RunSpec, scorers: readonly ScorerSpec[]): boolean =>
  scorers.some(({ kind }) => placeOfScorer(spec.module, kind) === 'session');

/** What was graded in the agent's own session is gone with it (SPEC 6.2). */
const isGradable = ({ evaluation }: RequestSpec, inSession: boolean): boolean =>
  !inSession || evaluation === 'fresh';

const digest = (value: object): string => toDigest(Buffer.from(toCanonicalJson(value)));

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
