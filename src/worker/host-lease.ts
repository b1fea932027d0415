import type { HostAbilities } from '../domain/environment-abilities.ts';
import type { Json } from '../domain/json.ts';
import { redactJson, type Redactor } from '../domain/redact.ts';
import { sayHostLives } from '../store/hosts.ts';
import type { Db } from '../store/pool.ts';
import type { CountedEnvironment } from './counted-environments.ts';

const SAY_MS = 10_000;

/**
 * Says in the store that this host's worker lives, so that a step that waits for it is not taken for lost, and which
 * environments it offers. Looks at them again each time: one that comes up is opened, one that is away is not.
 */
export class HostLease {
  private readonly db: Db;
  private readonly hostId: string;
  private readonly environments: readonly CountedEnvironment[];
  private readonly redact: Redactor['redact'];
  private abilities: HostAbilities = {};
  private looking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    db: Db,
    host: {
      readonly hostId: string;
      readonly environments: readonly CountedEnvironment[];
      /** What an engine says of itself may hold a key. */
      readonly redact: Redactor['redact'];
    },
  ) {
    this.db = db;
    this.hostId = host.hostId;
    this.environments = host.environments;
    this.redact = host.redact;
  }

  async start(): Promise<void> {
    await this.look();
    await this.say();
    this.timer = setInterval(() => {
      // An engine that does not answer keeps nobody from saying that the worker lives.
      this.looking ??= this.look()
        .catch(() => undefined)
        .finally(() => (this.looking = null));
      // While the store is away nobody can ask either.
      this.say().catch(() => undefined);
    }, SAY_MS);
    this.timer.unref();
  }

  /** The row stays: a worker that is started again goes on with what is open here. */
  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private async look(): Promise<void> {
    const looks = this.environments.map(
      async ({ provider }) => [provider.kind, await provider.describe()] as const,
    );
    const abilities = Object.fromEntries(await Promise.all(looks));
    this.abilities = redactJson(abilities as Json, this.redact) as HostAbilities;
  }

  private say(): Promise<void> {
    return sayHostLives(this.db, this.hostId, this.abilities);
  }
}
