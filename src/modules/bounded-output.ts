/** Collects what a process prints: the end of it for messages, whole lines for a log, up to a limit. */
export type BoundedOutput = {
  readonly add: (chunk: Buffer) => void;
  /** The last characters. */
  readonly tail: () => string;
  /** A new call: its output counts from here. */
  readonly reset: () => void;
};

const TAIL_CHARACTERS = 4_000;
const LOGGED_CHARACTERS = 32_000;

/** At most 32,000 characters between two resets reach the log; what follows is dropped, and that is said. */
export function createBoundedOutput(onLine: (line: string) => void): BoundedOutput {
  let tail = '';
  let rest = '';
  let logged = 0;
  const log = (line: string): void => {
    if (logged > LOGGED_CHARACTERS) return;
    logged += line.length + 1;
    onLine(logged > LOGGED_CHARACTERS ? '[more output was dropped]' : line);
  };
  return {
    add: (chunk) => {
      const text = chunk.toString('utf8');
      tail = (tail + text).slice(-TAIL_CHARACTERS);
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(-LOGGED_CHARACTERS);
      for (const line of lines) if (line.trim() !== '') log(line);
    },
    tail: () => tail,
    reset: () => {
      [tail, logged] = ['', 0];
    },
  };
}
