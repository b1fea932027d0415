import { setTimeout as delay } from 'node:timers/promises';
import type { CommandHarness, TextSource } from '../domain/command-harness.ts';
import { addKnown, toCostUsd, totalTokens, withoutLong, type Price } from '../domain/usage.ts';
import type { EnvironmentSession, ExecResult } from '../environments/environment.ts';
import { createAnswerReader, type AnswerReader } from '../harnesses/answer-reader.ts';
import type { TextReader } from '../harnesses/json-reader.ts';
import { createUsageReader, type ReportedUsage, type UsageReader } from '../harnesses/usage-reader.ts';

/** A look at what an agent left may take so long; it calls no model. */
const COLLECT_MS = 60_000;

/** Reads an agent's own words: its answer and, where the proxy does not know it, its usage. */
export class AgentReport {
  readonly #harness: CommandHarness;
  readonly #usage: UsageReader | null;
  readonly #answer: AnswerReader | null;
  readonly #warnings: string[] = [];

  constructor(harness: CommandHarness) {
    const { usage, answer, proxy } = harness;
    this.#harness = harness;
    this.#usage = usage === null || proxy ? null : createUsageReader(usage);
    this.#answer = 'from' in answer ? createAnswerReader(answer) : null;
  }

  /** What was asked for and is not there, one sentence each. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Those that read the agent's stdout as it comes. */
  get stdoutReaders(): readonly TextReader[] {
    const { usage, answer } = this.#harness;
    return [
      ...(this.#usage !== null && usage?.source.from.kind === 'stdout' ? [this.#usage] : []),
      ...(this.#answer !== null && 'from' in answer && answer.from.kind === 'stdout' ? [this.#answer] : []),
    ];
  }

  /** Reads the files that hold the rest. Never throws: what is not there is a warning. */
  async readFiles(session: EnvironmentSession): Promise<void> {
    const { usage, answer } = this.#harness;
    if (this.#usage !== null && usage !== null) await this.#readFile(session, usage.source.from, this.#usage);
    if (this.#answer !== null && 'from' in answer) await this.#readFile(session, answer.from, this.#answer);
  }

  async #readFile(session: EnvironmentSession, from: TextSource, reader: TextReader): Promise<void> {
    if (from.kind === 'stdout') return;
    const read = async (): Promise<void> => {
      for await (const piece of await session.download(from.path)) reader.push(piece as Buffer);
      reader.end();
    };
    await this.#orWarn(`"${from.path}" could not be read`, read);
  }

  /** The final answer; the empty text where there is none. */
  async findAnswer(session: EnvironmentSession, result: Pick<ExecResult, 'output'>): Promise<string> {
    const { answer } = this.#harness;
    if ('from' in answer) {
      if (this.#answer?.found == null) this.#warnings.push(`the agent gave no answer at "${answer.path}"`);
      return this.#answer?.found ?? '';
    }
    if (answer.kind === 'stdout') return result.output.trim();
    const read = async (): Promise<string> =>
      Buffer.from(await session.readFile(answer.path))
        .toString('utf8')
        .trim();
    return (await this.#orWarn(`the answer "${answer.path}" could not be read`, read)) ?? '';
  }

  /** What the agent said of its usage, its cost by the price card where it names none. */
  findUsage(price: Price | null): ReportedUsage | null {
    const found = this.#usage?.found ?? null;
    if (found === null) return null;
    if (addKnown(totalTokens(found.usage), found.costUsd) === null) {
      this.#warnings.push('the agent did not say what it used where `usage` looks for it');
      return null;
    }
    return { usage: found.usage, costUsd: found.costUsd ?? toCostUsd(found.usage, withoutLong(price)) };
  }

  async #orWarn<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    const late = delay(COLLECT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`not within ${COLLECT_MS / 1000} s`);
    });
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      this.#warnings.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }
}
