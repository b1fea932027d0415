import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import {
  adaptSlots,
  START_SLOTS,
  type SlotChange,
  type SlotEvent,
  type SlotPace,
} from '../domain/adaptive-slots.ts';
import { WaitingPolls } from './waiting-polls.ts';

export type EngineSlotsOptions = {
  readonly concurrency: number | 'auto';
  readonly pace: SlotPace;
  /** Told of every change that was decided here, with its reason. */
  readonly onChange: (change: SlotChange) => void;
};

/** A slot that was handed out: to a poll, then perhaps to the task that the poll brought. */
type Permit = SlotPermit & { used: boolean };

/**
 * Slots of one engine in this process: as many as are wished, or as the provider bears; none while it is paused.
 * A poll that waits here ends at once when its worker shuts down.
 */
export class EngineSlots implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';
  private readonly options: EngineSlotsOptions;
  private wish: number | 'auto';
  private state = START_SLOTS;
  private issued = 0;
  private used = 0;
  private peakUsed = 0;
  private resting = 0;
  private pausedUntilMs = 0;
  private probing = false;
  private pauseTimer: NodeJS.Timeout | null = null;
  private readonly lookTimer: NodeJS.Timeout;
  private readonly waiting = new WaitingPolls<Permit>();
  private readonly borrowers = new WaitingPolls<() => void>();
  private readonly entering = new WaitingPolls<void>();
  /** Tasks that were brought and wait until what is lent is back. */
  private held = 0;
  private lent = 0;

  constructor(options: EngineSlotsOptions) {
    this.options = options;
    this.wish = options.concurrency;
    this.lookTimer = setInterval(() => this.look(), options.pace.lookEveryMs).unref();
  }

  /** Slots at most in use now, were the engine not paused. */
  get limit(): number {
    return this.wish === 'auto' ? this.state.limit : this.wish;
  }

  /** Another wish counts from now on; slots above it are not handed out again. */
  setConcurrency(wish: number | 'auto'): void {
    if (wish === this.wish) return;
    this.wish = wish;
    this.handOut();
  }

  /** While nobody knows whether the engine is alive one slot is handed out: its call finds out, and the others wait. */
  setProbing(probing: boolean): void {
    this.probing = probing;
    if (!probing) this.handOut();
  }

  /** Hands out none for `pauseMs`; 0 ends a pause. */
  pause(pauseMs: number): void {
    if (this.pauseTimer !== null) clearTimeout(this.pauseTimer);
    this.pauseTimer = null;
    this.pausedUntilMs = Date.now() + pauseMs;
    // Timers take at most 2^31 - 1 ms; workers look at the store's pause every few seconds anyway.
    if (pauseMs > 0) {
      this.pauseTimer = setTimeout(() => this.handOut(), Math.min(pauseMs + 1, 3_600_000)).unref();
    } else {
      this.handOut();
    }
  }

  /** A request of this process was throttled. */
  noteThrottle(): void {
    this.decide({ kind: 'throttled', atMs: Date.now() });
    // Without a rest, a slot above what the provider bears would burn one call after another.
    this.resting += 1;
    setTimeout(() => {
      this.resting -= 1;
      this.handOut();
    }, this.options.pace.restMs).unref();
  }

  close(): void {
    clearInterval(this.lookTimer);
    if (this.pauseTimer !== null) clearTimeout(this.pauseTimer);
  }

  reserveSlot(_context: unknown, signal: AbortSignal): Promise<SlotPermit> {
    const permit = this.waiting.wait(signal, () => this.issue());
    this.handOut();
    return permit;
  }

  /**
   * A slot for a call that no task of the queue brings, such as an external agent's; returns how to give it back.
   * Polls that only wait for a task hold slots too, and do not stand in its way.
   */
  borrow(signal: AbortSignal): Promise<() => void> {
    const slot = this.borrowers.wait(signal, () => this.lend());
    this.handOut();
    return slot;
  }

  /**
   * Lets a task that its poll brought begin. A poll that waited when slots were lent may bring one too many: that one
   * waits until a slot is given back, before all who want to borrow one.
   */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.lent === 0) return;
    this.held += 1;
    const leave = (): void => void (this.held -= 1);
    const entered = this.entering.wait(signal, leave);
    this.handOut();
    await entered.catch((error: unknown) => {
      leave();
      throw error;
    });
  }

  tryReserveSlot(): SlotPermit | null {
    return this.hasFree() ? this.issue() : null;
  }

  markSlotUsed({ permit }: { readonly permit: SlotPermit }): void {
    (permit as Permit).used = true;
    this.used += 1;
    this.notePeak();
  }

  releaseSlot({ permit }: { readonly permit: SlotPermit }): void {
    this.issued -= 1;
    if ((permit as Permit).used) this.used -= 1;
    this.handOut();
  }

  private issue(): Permit {
    this.issued += 1;
    return { used: false };
  }

  private lend(): () => void {
    this.lent += 1;
    this.notePeak();
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.lent -= 1;
      this.handOut();
    };
  }

  private notePeak(): void {
    this.peakUsed = Math.max(this.peakUsed, this.used + this.lent);
  }

  private hasFree(): boolean {
    return this.issued + this.lent < this.rested && Date.now() >= this.pausedUntilMs;
  }

  private mayLend(): boolean {
    return this.held === 0 && this.used + this.lent < this.rested && Date.now() >= this.pausedUntilMs;
  }

  private mayEnter(): boolean {
    return this.lent === 0 || this.used - this.held + this.lent < this.rested;
  }

  /** One slot at least goes on: it finds out whether the provider takes calls again. */
  private get rested(): number {
    return this.probing ? 1 : Math.max(1, this.limit - this.resting);
  }

  private handOut(): void {
    this.entering.letGo(() => this.mayEnter());
    this.borrowers.letGo(() => this.mayLend());
    this.waiting.letGo(() => this.hasFree());
  }

  private look(): void {
    const { peakUsed } = this;
    this.peakUsed = this.used + this.lent;
    this.decide({ kind: 'look', atMs: Date.now(), peakUsed });
  }

  private decide(event: SlotEvent): void {
    if (this.wish !== 'auto') return;
    const { state, change } = adaptSlots(this.state, event, this.options.pace);
    this.state = state;
    if (change === null) return;
    this.options.onChange(change);
    this.handOut();
  }
}
