/** Polls of a Temporal worker that wait for a slot, in the order in which they came. */
export class WaitingPolls<Permit> {
  private readonly waiting = new Set<() => void>();

  /** Resolves with what `issue` gives once it is let go on; rejects at once when its worker shuts down. */
  wait(signal: AbortSignal, issue: () => Permit): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(issue());
      };
      const giveUp = (): void => {
        this.waiting.delete(take);
        reject(signal.reason as Error);
      };
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiting.add(take);
    });
  }

  /** Lets one after the other go on for as long as `mayGo` says yes; it is asked only while one waits. */
  letGo(mayGo: () => boolean): void {
    for (const take of this.waiting) {
      if (!mayGo()) return;
      this.waiting.delete(take);
      take();
    }
  }
}
