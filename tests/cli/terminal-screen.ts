import stringWidth from 'string-width';

const ESCAPE = String.fromCodePoint(27);
/** A sequence, the beginning of one, a movement, a text. */
const PARTS = new RegExp(
  String.raw`${ESCAPE}\[([?\d;]*)([A-Za-z])|${ESCAPE}(?:\[[?\d;]*)?$|[\r\n]|[^${ESCAPE}\r\n]+`,
  'g',
);

/**
 * What a terminal shows after it has been sent some text: cursor movement, erasing, colours (kept out), wide letters,
 * wrapping and scrolling as a VT100 does them. Fails on a sequence that it does not know.
 */
export class TerminalScreen {
  width: number;
  height: number;
  /** How often the whole screen was cleared; the next two are counted from then on. */
  cleared = 0;
  /** Whether a line was longer than the screen. */
  wrapped = false;
  /** Lines that went out of the screen at its top. */
  scrolled = 0;
  /** Colours and other looks that were asked for. */
  painted = 0;
  private cells: string[][];
  private row = 0;
  private column = 0;
  private rest = '';

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.cells = Array.from({ length: height }, () => []);
  }

  /** The lines, without blanks at their ends. */
  get lines(): readonly string[] {
    return this.cells.map((line) =>
      Array.from(line, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  resize(width: number, height: number): void {
    const excess = Math.max(0, this.row - height + 1);
    this.cells = Array.from({ length: height }, (_, index) =>
      (this.cells[index + excess] ?? []).slice(0, width),
    );
    this.row -= excess;
    [this.width, this.height] = [width, height];
  }

  /** `onFrame` is called after each update that the program has marked as one. */
  write(text: string, onFrame: () => void = () => undefined): void {
    const parts = (this.rest + text).matchAll(PARTS);
    this.rest = '';
    for (const [part, numbers, letter] of parts) {
      if (letter !== undefined) this.obey(numbers ?? '', letter, onFrame);
      else if (part.startsWith(ESCAPE)) this.rest = part;
      else if (part === '\r') this.column = 0;
      else if (part === '\n') this.feed();
      else for (const { segment } of new Intl.Segmenter().segment(part)) this.put(segment);
    }
  }

  private put(letter: string): void {
    const width = stringWidth(letter);
    if (this.column + width > this.width) {
      this.wrapped = true;
      this.column = 0;
      this.feed();
    }
    const line = this.cells[this.row] ?? [];
    line[this.column] = letter;
    if (width === 2) line[this.column + 1] = '';
    this.column += width;
  }

  private feed(): void {
    if (this.row < this.height - 1) this.row += 1;
    else {
      this.cells = [...this.cells.slice(1), []];
      this.scrolled += 1;
    }
  }

  private obey(numbers: string, letter: string, onFrame: () => void): void {
    const count = Math.max(1, Number(numbers || 1));
    if (letter === 'A') this.row = Math.max(0, this.row - count);
    else if (letter === 'B') this.row = Math.min(this.height - 1, this.row + count);
    else if (letter === 'G') this.column = count - 1;
    else if (letter === 'H') [this.row, this.column] = [0, 0];
    else if (letter === 'K') this.eraseLine(numbers);
    else if (letter === 'J' && numbers === '2') this.clear();
    else if (letter === 'm') this.painted += 1;
    else if (letter === 'l' && numbers === '?2026') onFrame();
    else if (!(numbers.startsWith('?') && (letter === 'h' || letter === 'l'))) {
      throw new Error(`unknown sequence CSI ${numbers}${letter}`);
    }
  }

  private clear(): void {
    this.cells = this.cells.map(() => []);
    this.cleared += 1;
    [this.wrapped, this.scrolled] = [false, 0];
  }

  private eraseLine(numbers: string): void {
    this.cells[this.row] = numbers === '2' ? [] : (this.cells[this.row] ?? []).slice(0, this.column);
  }
}
