const ENDS = ['\n\n', '\r\n\r\n'] as const;

/**
 * Takes the one event out of a stream of chat chunks that counts tokens and says nothing else, which the agent
 * did not ask for. All other bytes stay as they came; an event that is not whole yet is held.
 */
export class CountsFilter {
  #pending = Buffer.alloc(0);

  push(chunk: Buffer): Buffer {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const kept: Buffer[] = [];
    for (let end = this.#findEnd(); end !== null; end = this.#findEnd()) {
      const event = this.#pending.subarray(0, end);
      this.#pending = this.#pending.subarray(end);
      if (!isCountsAlone(event.toString('utf8'))) kept.push(event);
    }
    return Buffer.concat(kept);
  }

  /** What is left of a stream that ended within an event. */
  end(): Buffer {
    return this.#pending;
  }

  #findEnd(): number | null {
    const ends = ENDS.map((text) => [this.#pending.indexOf(text), text.length] as const);
    const found = ends.filter(([at]) => at !== -1).map(([at, length]) => at + length);
    return found.length === 0 ? null : Math.min(...found);
  }
}

function isCountsAlone(event: string): boolean {
  if (!/"choices"\s*:\s*\[\s*\]/.test(event) || !/"usage"\s*:\s*\{/.test(event)) return false;
  return event.trimStart().startsWith('data:');
}
