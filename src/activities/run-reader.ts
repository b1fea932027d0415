import { LRUCache } from 'lru-cache';
import type { Cell } from '../domain/ids.ts';
import type { RequestPlan, RunPlan } from '../domain/plan.ts';
import type { ModelSpec, ProviderSpec } from '../domain/run.ts';
import {
  mergeLimits,
  type AttemptLimits,
  type ScorerSpec,
  type Target,
  type TestCase,
} from '../domain/suite.ts';
import { loadGrading, type Grading } from '../store/gradings.ts';
import { loadCases, loadPlan, type StoredCase } from '../store/plans.ts';
import type { Db } from '../store/pool.ts';
import { fatal } from './failure.ts';

/** Everything recorded about the place of a cell in its run, the target excepted. */
export type CellPlace = {
  readonly plan: RunPlan;
  readonly request: RequestPlan;
  readonly model: ModelSpec;
  readonly provider: ProviderSpec;
  readonly testCase: TestCase;
  /** Those that the answers are graded again by, else the case's own, else the suite's. */
  readonly scorers: readonly ScorerSpec[];
  /** The request's, with the case's own in their place. */
  readonly limits: AttemptLimits;
};

/** Reads plans and cases once: what a run recorded about a request never changes once it is prepared. */
export class RunReader {
  private readonly db: Db;
  private readonly plans = new LRUCache<string, Promise<RunPlan>>({ max: 50 });
  private readonly gradings = new LRUCache<string, Promise<Grading>>({ max: 50 });
  private readonly cases = new LRUCache<string, Promise<StoredCase>>({ max: 2_000 });
  private readonly asked = new Map<string, AskedCase>();

  constructor(db: Db) {
    this.db = db;
  }

  async find(
    cell: CaseAddress & { readonly modelId: string; readonly generation: number },
  ): Promise<CellPlace> {
    const plan = await this.preparedPlan(cell);
    const request = plan.requests[cell.requestIndex];
    const model = plan.spec.models.find((one) => one.id === cell.modelId);
    const provider = plan.spec.providers.find((one) => one.id === model?.providerId);
    if (request === undefined || model === undefined || provider === undefined) {
      throw fatal(
        'OutsidePlan',
        `request ${cell.requestIndex} with model "${cell.modelId}" is not in the plan`,
      );
    }
    const { testCase } = await this.storedCase(cell);
    const { scorers: given } = await this.grading(cell);
    const scorers = given ?? testCase.scorers ?? request.scorers;
    const limits = mergeLimits(request.spec.limits, testCase.limits);
    return { plan, request, model, provider, testCase, scorers, limits };
  }

  /** Read again where the request was not prepared yet when the plan was read. */
  private async preparedPlan({ runId, requestIndex }: CaseAddress): Promise<RunPlan> {
    const plan = await this.plan(runId);
    const request = plan.requests[requestIndex];
    if (request === undefined || (request.unprepared !== true && request.failure === null)) return plan;
    this.plans.delete(runId);
    return await this.plan(runId);
  }

  plan(runId: string): Promise<RunPlan> {
    return remember(this.plans, runId, () => loadPlan(this.db, runId));
  }

  private grading(at: { readonly runId: string; readonly generation: number }): Promise<Grading> {
    if (at.generation === 1) return loadGrading(this.db, at);
    return remember(this.gradings, `${at.runId}/${at.generation}`, () => loadGrading(this.db, at));
  }

  /** The hidden answer: for scorers and scripted models only. */
  async target(cell: CaseAddress): Promise<Target | null> {
    return (await this.storedCase(cell)).target;
  }

  private storedCase(cell: CaseAddress): Promise<StoredCase> {
    const key = JSON.stringify([cell.runId, cell.requestIndex, cell.caseId]);
    return remember(this.cases, key, () => this.ask(key, cell));
  }

  /** Cases that are asked for in one turn of the event loop are read by one statement a request. */
  private ask(key: string, cell: CaseAddress): Promise<StoredCase> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredCase>();
    if (this.asked.size === 0) setImmediate(() => void this.readAsked());
    this.asked.set(key, { cell, resolve, reject });
    return promise;
  }

  private async readAsked(): Promise<void> {
    const asked = [...this.asked.values()];
    this.asked.clear();
    const groups = Map.groupBy(asked, ({ cell }) => JSON.stringify([cell.runId, cell.requestIndex]));
    await Promise.all([...groups.values()].map((group) => this.readGroup(group)));
  }

  private async readGroup(group: readonly AskedCase[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    try {
      const found = await loadCases(this.db, {
        ...first.cell,
        caseIds: group.map(({ cell }) => cell.caseId),
      });
      for (const { cell, resolve, reject } of group) {
        const stored = found.get(cell.caseId);
        if (stored === undefined) reject(new Error(`case ${cell.caseId} was not read`));
        else resolve(stored);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

type CaseAddress = Pick<Cell, 'runId' | 'requestIndex' | 'caseId'>;

type AskedCase = {
  readonly cell: CaseAddress;
  readonly resolve: (stored: StoredCase) => void;
  readonly reject: (error: unknown) => void;
};

/** Shares one look-up among all who ask meanwhile; a failed one is forgotten. */
function remember<T>(cache: LRUCache<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const loading = load();
  cache.set(key, loading);
  loading.catch(() => cache.delete(key));
  return loading;
}
