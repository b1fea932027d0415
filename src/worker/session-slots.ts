import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import { WaitingPolls } from './waiting-polls.ts';

export type SessionSlotsOptions = {
  /** Sessions of this kind that this host bears at one time. */
  readonly capacity: number;
  /** Sessions opened in a second at most; 0 = as fast as they come. */
  readonly opensPerSecond: number;
};

/**
 * Slots of the queue that opens sessions of one kind: the free capacity of this host. A slot that opened a
 * session stays taken until that session is closed or kept, so that the server does the queueing.
 */
export class SessionSlots implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';
  private options: SessionSlotsOptions;
  /** Session ids, with the time since when they count. */
  private readonly open = new Map<string, number>();
  private readonly waiting = new WaitingPolls<SlotPermit>();
  private issued = 0;
  private available = true;
  private leads = true;
  private nextOpenAtMs = 0;
  private timer: NodeJS.Timeout | null = null;

  /** `leads` false = another worker of this host opens its sessions, until `setLeads` says otherwise. */
  constructor(options: SessionSlotsOptions, { leads = true } = {}) {
    this.options = options;
    this.leads = leads;
  }

  get limits(): SessionSlotsOptions {
    return this.options;
  }

  /** What is out stays out: a lower capacity holds once enough sessions are closed. */
  setLimits(limits: SessionSlotsOptions): void {
    this.options = limits;
    this.handOut();
  }

  /** Whether this worker is the one of its host that opens sessions. */
  setLeads(leads: boolean): void {
    this.leads = leads;
    this.handOut();
  }

  /** Polls that waited at the server when another worker took the lead bring tasks all the same. */
  get isLeading(): boolean {
    return this.leads;
  }

  /** Every place is taken. */
  get isFull(): boolean {
    return this.issued + this.open.size >= this.options.capacity;
  }

  get openIds(): readonly string[] {
    return [...this.open.keys()];
  }

  /** Sessions that count. */
  get openCount(): number {
    return this.open.size;
  }

  /** The session that a slot opened; its place is taken from here on. */
  hold(sessionId: string): void {
    this.open.set(sessionId, Date.now());
  }

  /** The session is closed, or kept for a person and counted no more. */
  free(sessionId: string): void {
    this.open.delete(sessionId);
    this.handOut();
  }

  /** Whether this host can open sessions of the kind now; while it cannot, they wait at the server for one that can. */
  setAvailable(available: boolean): void {
    this.available = available;
    this.handOut();
  }

  /** What was really there at `asOfMs`: at the start of a worker and now and then, for others close sessions too. */
  recount(sessionIds: readonly string[], asOfMs: number): void {
    for (const [sessionId, sinceMs] of this.open) {
      if (sinceMs < asOfMs && !sessionIds.includes(sessionId)) this.open.delete(sessionId);
    }
    for (const sessionId of sessionIds) if (!this.open.has(sessionId)) this.open.set(sessionId, asOfMs);
    this.handOut();
  }

  reserveSlot(_context: unknown, signal: AbortSignal): Promise<SlotPermit> {
    const permit = this.waiting.wait(signal, () => this.issue());
    this.handOut();
    return permit;
  }

  tryReserveSlot(): SlotPermit | null {
    return this.hasFree() && this.waitMs() === 0 ? this.issue() : null;
  }

  markSlotUsed(): void {
    const { opensPerSecond } = this.options;
    if (opensPerSecond > 0)
      this.nextOpenAtMs = Math.max(this.nextOpenAtMs, Date.now()) + 1_000 / opensPerSecond;
  }

  releaseSlot(): void {
    this.issued -= 1;
    this.handOut();
  }

  private issue(): SlotPermit {
    this.issued += 1;
    return {};
  }

  private hasFree(): boolean {
    return this.available && this.leads && !this.isFull;
  }

  private waitMs(): number {
    return Math.max(0, this.nextOpenAtMs - Date.now());
  }

  private handOut(): void {
    this.waiting.letGo(() => {
      if (!this.hasFree()) return false;
      const waitMs = this.waitMs();
      if (waitMs > 0) this.lookAgain(waitMs);
      return waitMs === 0;
    });
  }

  private lookAgain(waitMs: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.handOut();
    }, waitMs).unref();
  }
}
