import * as workflow from '@temporalio/workflow';
import type { RunChanged } from './messages.ts';

/** Whether a task or attempt workflow may start something: not while its run is paused. */
export class PauseGate {
  private paused: boolean;
  private stopped = false;

  constructor(paused = false) {
    this.paused = paused;
  }

  change({ paused, stopped }: Pick<RunChanged, 'paused' | 'stopped'>): void {
    this.paused = paused;
    this.stopped ||= stopped;
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  get isClosed(): boolean {
    return this.paused && !this.stopped;
  }

  /**
   * Waits out a pause. Ask `isClosed` first: without a pause nothing may be awaited between the end of a local
   * activity and the next command.
   */
  pass(): Promise<void> {
    return workflow.condition(() => !this.isClosed);
  }
}
