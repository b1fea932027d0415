import { sayHostLives } from '../store/hosts.ts';
import type { Db } from '../store/pool.ts';

const SAY_MS = 10_000;

/** Says in the store that this host's worker lives, so that a step that waits for it is not taken for lost. */
export class HostLease {
  private readonly db: Db;
  private readonly hostId: string;
  private timer: NodeJS.Timeout | null = null;

  constructor(db: Db, hostId: string) {
    this.db = db;
    this.hostId = hostId;
  }

  async start(): Promise<void> {
    await sayHostLives(this.db, this.hostId);
    // While the store is away nobody can ask either.
    this.timer = setInterval(() => void sayHostLives(this.db, this.hostId).catch(() => undefined), SAY_MS);
    this.timer.unref();
  }

  /** The row stays: a worker that is started again goes on with what is open here. */
  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
