import { CapturedOutput } from './captured-output.ts';
import type { ExecRequest } from './environment.ts';
import type { OutputPipe, OutputPipes } from './output-pipe.ts';

export type OutputRequest = Pick<ExecRequest, 'onOutput' | 'onErrorOutput'> & {
  /** Of each end of the output. */
  readonly keepBytes: number;
};

/** What a command writes, on its way: one pipe for both streams, or one for each where they are asked for apart. */
export class CommandOutput {
  readonly captured: CapturedOutput;
  /** Everybody who could write has gone, and all is read. */
  readonly drained: Promise<unknown>;
  readonly #pipes: readonly [OutputPipe] | readonly [OutputPipe, OutputPipe];
  readonly #listeners: readonly ((chunk: Buffer) => void)[];

  constructor(
    pipes: readonly [OutputPipe] | readonly [OutputPipe, OutputPipe],
    { onOutput, onErrorOutput, keepBytes }: OutputRequest,
  ) {
    const captured = new CapturedOutput(keepBytes);
    const collect = (chunk: Buffer): void => {
      captured.add(chunk);
      onOutput?.(chunk);
    };
    this.captured = captured;
    this.#pipes = pipes;
    this.#listeners = [collect, (chunk) => onErrorOutput?.(chunk)];
    for (const [index, { reader }] of pipes.entries())
      reader.on('data', this.#listeners[index] ?? collect).on('error', () => undefined);
    this.drained = Promise.all(
      pipes.map(({ reader }) => new Promise<void>((resolve) => reader.once('close', resolve))),
    );
  }

  /** For the command: of its stdout and stderr. */
  get paths(): readonly [string, string] {
    const [output, errorOutput = output] = this.#pipes;
    return [output.path, errorOutput.path];
  }

  /** Once the command has them. */
  async handOver(): Promise<void> {
    await Promise.all(this.#pipes.map((pipe) => pipe.handOver()));
  }

  /** Reads on and throws away, so that a server that the command left behind does not die of its own log. */
  leaveRunning(): void {
    for (const [index, { reader }] of this.#pipes.entries()) {
      const listener = this.#listeners[index];
      if (listener !== undefined) reader.off('data', listener);
      reader.resume();
      reader.unref();
    }
  }
}

export async function openCommandOutput(pipes: OutputPipes, request: OutputRequest): Promise<CommandOutput> {
  const output = await pipes.open();
  if (request.onErrorOutput === undefined) return new CommandOutput([output], request);
  try {
    return new CommandOutput([output, await pipes.open()], request);
  } catch (error) {
    output.reader.destroy();
    await output.handOver();
    throw error;
  }
}
