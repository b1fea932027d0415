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
import { loadCase, loadPlan, loadTarget } from '../store/plans.ts';
import type { Db } from '../store/pool.ts';
import { fatal } from './failure.ts';

/** Everything recorded about the place of a cell in its run, the target excepted. */
export type CellPlace = {
  readonly plan: RunPlan;
  readonly request: RequestPlan;
  readonly model: ModelSpec;
  readonly provider: ProviderSpec;
  readonly testCase: TestCase;
  /** The case's own scorers, else the suite's. */
  readonly scorers: readonly ScorerSpec[];
  /** The request's, with the case's own in their place. */
  readonly limits: AttemptLimits;
};

/** Reads plans and cases once: what a run recorded at its start never changes. */
export class RunReader {
  private readonly db: Db;
  private readonly plans = new LRUCache<string, Promise<RunPlan>>({ max: 50 });
  private readonly cases = new LRUCache<string, Promise<TestCase>>({ max: 2_000 });

  constructor(db: Db) {
    this.db = db;
  }

  async find(cell: Pick<Cell, 'runId' | 'requestIndex' | 'modelId' | 'caseId'>): Promise<CellPlace> {
    const plan = await this.plan(cell.runId);
    const request = plan.requests[cell.requestIndex];
    const model = plan.spec.models.find((one) => one.id === cell.modelId);
    const provider = plan.spec.providers.find((one) => one.id === model?.providerId);
    if (request === undefined || model === undefined || provider === undefined) {
      throw fatal(
        'OutsidePlan',
        `request ${cell.requestIndex} with model "${cell.modelId}" is not in the plan`,
      );
    }
    const testCase = await this.testCase(cell);
    const scorers = testCase.scorers ?? request.scorers;
    const limits = mergeLimits(request.spec.limits, testCase.limits);
    return { plan, request, model, provider, testCase, scorers, limits };
  }

  plan(runId: string): Promise<RunPlan> {
    return remember(this.plans, runId, () => loadPlan(this.db, runId));
  }

  /** Never cached: only scorers ask, once an attempt. */
  target(cell: Pick<Cell, 'runId' | 'requestIndex' | 'caseId'>): Promise<Target | null> {
    return loadTarget(this.db, cell);
  }

  private testCase(cell: Pick<Cell, 'runId' | 'requestIndex' | 'caseId'>): Promise<TestCase> {
    const key = JSON.stringify([cell.runId, cell.requestIndex, cell.caseId]);
    return remember(this.cases, key, async () => (await loadCase(this.db, cell)).testCase);
  }
}

/** Shares one look-up among all who ask meanwhile; a failed one is forgotten. */
function remember<T>(cache: LRUCache<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const loading = load();
  cache.set(key, loading);
  loading.catch(() => cache.delete(key));
  return loading;
}
