import type { PoolClient } from 'pg';
import type { TransactionalDb } from '../store/pool.ts';
import {
  leadSessions,
  listEndedSessions,
  loadSessionLimits,
  saveSessionLimit,
} from '../store/session-limits.ts';
import type { CountedEnvironment } from './counted-environments.ts';
import { recount } from './reap-sessions.ts';

const LOOK_MS = 1_000;

/**
 * Of several workers on one host one opens its sessions, so that places and opens per second are those of the host; the
 * others work in what is open. The lead is a lock of a connection: when its worker is gone another takes it up
 * within seconds. Also brings limits up to date that were set meanwhile, and places that other workers freed.
 */
export class SessionLead {
  private readonly db: TransactionalDb;
  private readonly hostId: string;
  private readonly environments: readonly CountedEnvironment[];
  private connection: PoolClient | null = null;
  private readonly led = new Set<CountedEnvironment>();
  private looking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    db: TransactionalDb,
    host: { readonly hostId: string; readonly environments: readonly CountedEnvironment[] },
  ) {
    this.db = db;
    this.hostId = host.hostId;
    this.environments = host.environments;
  }

  async start(): Promise<void> {
    for (const { provider, slots } of this.environments)
      await saveSessionLimit(this.db, { hostId: this.hostId, kind: provider.kind, ...slots.limits });
    await this.look();
    this.timer = setInterval(() => {
      // While the store is away nothing is opened anyway.
      this.looking ??= this.look()
        .catch(() => undefined)
        .finally(() => (this.looking = null));
    }, LOOK_MS);
    this.timer.unref();
  }

  /** Another worker of this host may open from here on. */
  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    await this.looking;
    this.drop();
  }

  private async look(): Promise<void> {
    // By the connection of the lead: one that is idle may be cut, and one that is cut is noticed.
    const limits = await loadSessionLimits(this.connection ?? this.db, this.hostId);
    for (const environment of this.environments) {
      const { provider, slots } = environment;
      const limit = limits.get(provider.kind);
      if (limit !== undefined) slots.setLimits(limit);
      if (!this.led.has(environment)) await this.take(environment);
      else if (slots.isFull) await this.freeEnded(environment);
    }
  }

  private async take(environment: CountedEnvironment): Promise<void> {
    const { hostId, db } = this;
    const connection = (this.connection ??= await this.connect());
    if (!(await leadSessions(connection, { hostId, kind: environment.provider.kind }))) return;
    await recount({ db, hostId, environment });
    // The lock may have gone meanwhile, with its connection.
    if (this.connection !== connection) return;
    this.led.add(environment);
    environment.slots.setLeads(true);
  }

  private async connect(): Promise<PoolClient> {
    const connection = await this.db.connect();
    connection.once('error', () => {
      if (this.connection === connection) this.drop();
    });
    return connection;
  }

  /** The lock goes with the connection. */
  private drop(): void {
    for (const { slots } of this.led) slots.setLeads(false);
    this.led.clear();
    this.connection?.release(true);
    this.connection = null;
  }

  /** Sessions are closed by any worker of the host. */
  private async freeEnded({ slots }: CountedEnvironment): Promise<void> {
    for (const sessionId of await listEndedSessions(this.db, slots.openIds)) slots.free(sessionId);
  }
}
