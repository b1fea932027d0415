import type { Message, ToolSchema } from '../domain/transcript.ts';
import type { HarnessSpec } from '../domain/run.ts';
import type { TestCase } from '../domain/suite.ts';

/** Turns a case into what the model is told. Sees no target. */
export interface Harness {
  readonly kind: HarnessSpec['kind'];
  /** Changes with every change of what models are told; part of a cell's fingerprint. */
  readonly version: string;
  /** The messages before the first model call. */
  startMessages(testCase: TestCase): readonly Message[];
  /** The tools that the model is offered, in order; `own` are those of the run file. */
  listTools(spec: HarnessSpec, own?: readonly ToolSchema[]): readonly ToolSchema[];
}
