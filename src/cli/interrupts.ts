/** Counts Ctrl-C from its making on, so that none is lost between the start of a run and its watch. */
export class Interrupts {
  private count = 0;
  private listener: ((count: number) => void) | null = null;
  private readonly heard = (): void => {
    this.count += 1;
    this.listener?.(this.count);
  };

  constructor() {
    process.on('SIGINT', this.heard);
  }

  /** Calls with 1 at the first Ctrl-C and 2 at the second; at once for those that came before. */
  listen(listener: (count: number) => void): void {
    this.listener = listener;
    for (let count = 1; count <= this.count; count += 1) listener(count);
  }

  stop(): void {
    process.off('SIGINT', this.heard);
    this.listener = null;
  }
}
