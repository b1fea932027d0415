import { packTasks, type Pack } from '../domain/pack-tasks.ts';
import type { PreparedRun } from '../domain/workflow-brief.ts';
import { listTasks } from './activities.ts';

const TASKS_PER_PAGE = 250;

/** The tasks of a run that have no result, in scheduler order, as packs that are read page by page. */
export class PackLine {
  private readonly prepared: Extract<PreparedRun, { kind: 'ready' }>;
  private readonly packs: Pack[] = [];
  /** Last task that has been read, and last one that was taken. */
  private readTask: number;
  private takenTask: number;
  private allRead = false;

  constructor(prepared: Extract<PreparedRun, { kind: 'ready' }>, afterTask: number) {
    this.prepared = prepared;
    this.readTask = afterTask;
    this.takenTask = afterTask;
  }

  /** Every task up to this one was taken. */
  get afterTask(): number {
    return this.takenTask;
  }

  /** Every page has been read; packs of the last one may be left. */
  get isRead(): boolean {
    return this.allRead;
  }

  get isEmpty(): boolean {
    return this.allRead && this.packs.length === 0;
  }

  /** The first pack, which stays first until it is taken; undefined = none is left. */
  async first(): Promise<Pack | undefined> {
    await this.read();
    return this.packs[0];
  }

  /** The first pack was started or passed over. */
  take(): void {
    const pack = this.packs.shift();
    this.takenTask = pack?.tasks.at(-1)?.task ?? this.takenTask;
  }

  /** Goes through everything that has no result once more. */
  restart(): void {
    this.readTask = 0;
    this.takenTask = 0;
    this.allRead = false;
  }

  /** A last pack that is not full waits for the next page, so that pages do not cut packs short. */
  private async read(): Promise<void> {
    while (this.packs.length < 2 && !this.allRead) {
      const { runId, generation, execution } = this.prepared.run;
      const unfinished = this.packs.splice(0).flatMap((pack) => pack.tasks);
      const page = await listTasks({ runId, generation, afterTask: this.readTask, limit: TASKS_PER_PAGE });
      this.readTask = page.tasks.at(-1)?.task ?? this.readTask;
      this.allRead = !page.more;
      const rule = { ...execution, requests: this.prepared.requests };
      this.packs.push(...packTasks([...unfinished, ...page.tasks], rule));
    }
  }
}
