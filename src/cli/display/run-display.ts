import { createLogUpdate } from 'log-update';
import picocolors from 'picocolors';
import type { RunProgress } from '../../client/progress.ts';
import { sumProgress } from '../../client/progress.ts';
import { describeMissingKeys } from '../../domain/key-names.ts';
import { isTerminal } from '../../domain/outcome.ts';
import type { ProgressRow } from '../../store/progress.ts';
import { formatPlainLine, isLineDue, type PrintedLine } from './plain-lines.ts';
import { formatProgressTable, planRoom, type Room } from './progress-table.ts';
import type { ProgressView } from './progress-view.ts';
import { addSample, estimateBySoFarMs, estimateRemainingMs, type DoneSample } from './remaining-time.ts';

/** Shows how a run goes, on standard error: standard output is for results. */
export interface RunDisplay {
  show(progress: RunProgress): void;
  /** A sentence that stays, such as what Ctrl-C does now. */
  notice(text: string): void;
  /** Leaves the last state on the screen. */
  close(): void;
}

export type DisplayStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  columns?: number;
  rows?: number;
};

const REDRAW_MS = 200;

/** Cursor to the first place, and everything away: whatever a terminal has made of the lines at another width. */
const CLEAR_SCREEN = '\u001B[H\u001B[2J';

/** A live table on a terminal, plain lines elsewhere, in continuous integration and where no cursor can be moved. */
export function createRunDisplay(
  stream: DisplayStream,
  settings: { readonly noColor: boolean; readonly ci: boolean; readonly dumbTerminal: boolean },
): RunDisplay {
  return stream.isTTY === true && !settings.ci && !settings.dumbTerminal
    ? new LiveDisplay(stream, settings.noColor)
    : new PlainDisplay(stream);
}

/** Keeps what the remaining times are estimated from. */
class Pace {
  private samples = new Map<string, readonly DoneSample[]>();

  note(progress: RunProgress, atMs: number): void {
    const total: readonly [string, number] = ['', sumProgress(progress.rows).done];
    const cells = progress.rows.map((line): readonly [string, number] => [keyOf(line), line.done]);
    for (const [key, done] of [total, ...cells])
      this.samples.set(key, addSample(this.samples.get(key) ?? [], { atMs, done }));
  }

  remainingMs(key: string, remaining: number, atMs: number): number | null {
    return estimateRemainingMs(this.samples.get(key) ?? [], { atMs, remaining });
  }
}

class LiveDisplay implements RunDisplay {
  private readonly stream: DisplayStream;
  private update: ReturnType<typeof createLogUpdate>;
  private readonly colors: ReturnType<typeof picocolors.createColors>;
  private readonly pace = new Pace();
  private readonly startedMs = performance.now();
  private readonly timer: NodeJS.Timeout;
  private progress: RunProgress | null = null;
  private noticeText: string | null = null;
  /** Lines that are wanted for models and engines, once they are known; later ones share them. */
  private wanted: Room | null = null;
  private readonly onResize = (): void => this.startAnew();

  constructor(stream: DisplayStream, noColor: boolean) {
    this.stream = stream;
    this.update = createLogUpdate(stream as NodeJS.WriteStream, { showCursor: true });
    stream.on('resize', this.onResize);
    this.colors = picocolors.createColors(!noColor);
    this.timer = setInterval(() => this.draw(), REDRAW_MS);
    this.timer.unref();
  }

  show(progress: RunProgress): void {
    this.progress = progress;
    this.pace.note(progress, performance.now());
    if (progress.rows.length > 0) {
      this.wanted ??= { rows: progress.rows.length, engines: progress.engines.length };
    }
  }

  notice(text: string): void {
    this.noticeText = text;
    this.draw();
  }

  close(): void {
    clearInterval(this.timer);
    this.stream.off('resize', this.onResize);
    this.draw();
    this.update.done();
  }

  private draw(): void {
    if (this.progress === null) return;
    const { columns: width = 80, rows: height = 24 } = this.stream;
    const screen = { width, height, colors: this.colors };
    const room = this.wanted === null ? { rows: 0, engines: 0 } : planRoom(this.wanted, screen);
    this.update(formatProgressTable(this.view(this.progress), screen, room));
  }

  private startAnew(): void {
    this.stream.write(CLEAR_SCREEN);
    this.update = createLogUpdate(this.stream as NodeJS.WriteStream, { showCursor: true });
    this.draw();
  }

  private view(progress: RunProgress): ProgressView {
    const nowMs = performance.now();
    const { planned, done } = sumProgress(progress.rows);
    const elapsedMs = toElapsedMs(progress);
    const remaining = planned - done;
    // The pace since the start says nothing of a later generation, and a run that waits has none.
    const soFar = { elapsedMs: progress.generation === 1 ? elapsedMs : null, remaining };
    const goesOn = progress.state === 'running';
    return {
      progress,
      elapsedMs: elapsedMs ?? nowMs - this.startedMs,
      remainingMs: goesOn
        ? (this.pace.remainingMs('', remaining, nowMs) ?? estimateBySoFarMs(done, soFar))
        : null,
      lineRemainingMs: progress.rows.map((line) =>
        goesOn ? this.pace.remainingMs(keyOf(line), line.planned - line.done, nowMs) : null,
      ),
      notice: isTerminal(progress.state) ? null : this.noticeText,
    };
  }
}

class PlainDisplay implements RunDisplay {
  private readonly stream: DisplayStream;
  private readonly pace = new Pace();
  private printed: PrintedLine | null = null;
  private missing: string | null = null;
  private progress: RunProgress | null = null;

  constructor(stream: DisplayStream) {
    this.stream = stream;
  }

  show(progress: RunProgress): void {
    this.progress = progress;
    this.pace.note(progress, performance.now());
    this.sayMissing(progress);
    this.print(isTerminal(progress.state));
  }

  notice(text: string): void {
    this.stream.write(`${text}\n`);
  }

  close(): void {
    this.print(true);
  }

  /** Said once: it holds until the key is there. */
  private sayMissing({ missingKeys, runId }: RunProgress): void {
    const text = missingKeys.length === 0 ? null : describeMissingKeys(missingKeys, runId);
    if (text !== null && text !== this.missing) this.notice(text);
    this.missing = text;
  }

  private print(last: boolean): void {
    if (this.progress === null) return;
    const nowMs = performance.now();
    const { planned, done } = sumProgress(this.progress.rows);
    // Without the remaining time, which changes by itself, a line says when nothing has happened.
    const text = formatPlainLine(this.progress, null);
    const next = { nowMs, text, state: this.progress.state, last };
    if (!isLineDue(next, this.printed)) return;
    this.printed = { atMs: nowMs, text, state: this.progress.state };
    this.stream.write(
      `${formatPlainLine(this.progress, this.pace.remainingMs('', planned - done, nowMs))}\n`,
    );
  }
}

const keyOf = (line: ProgressRow): string => `${line.requestName}/${line.modelId}`;

/** By the run's own clock where it has started; the machine of the store may differ by seconds. */
function toElapsedMs(progress: RunProgress): number | null {
  if (progress.startedAt === null) return null;
  const end = progress.finishedAt === null ? Date.now() : Date.parse(progress.finishedAt);
  return Math.max(0, end - Date.parse(progress.startedAt));
}
