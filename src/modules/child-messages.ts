import type { Json, JsonObject } from '../domain/json.ts';
import type { TargetValue, TestCase } from '../domain/suite.ts';
import type { Message, ToolStatus } from '../domain/transcript.ts';
import type { ModelRequest } from '../providers/provider.ts';

/** What a worker and the process of a module say to each other: plain JSON both ways. */

/** The module itself; the first message of a process. */
export type LoadMessage = {
  readonly kind: 'load';
  readonly code: string;
  /** Where the module stands for whoever asks it: its file in the project. */
  readonly url: string;
  readonly exportName: string;
  /** Where `import 'assay'` leads. */
  readonly ownUrl: string;
  /** Whether the value itself is wanted. */
  readonly describe: boolean;
};

export type ToolMessage = {
  readonly kind: 'tool';
  readonly name: string;
  readonly args: JsonObject;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly context: JsonObject;
  readonly modelId: string;
  readonly caseId: string;
};

export type ScoreMessage = {
  readonly kind: 'score';
  readonly name: string;
  /** The name of the scorer in its suite. */
  readonly shownName: string;
  readonly options: JsonObject;
  readonly answer: string;
  readonly targets: readonly TargetValue[];
  readonly testCase: TestCase;
  readonly transcript: readonly Message[];
  readonly threshold: number;
  readonly modelId: string;
  readonly context: JsonObject;
};

export type ProviderMessage = {
  readonly kind: 'provider';
  readonly name: string;
  /** Null = whether it answers is asked. */
  readonly request: ModelRequest | null;
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
};

export type CallMessage = ToolMessage | ScoreMessage | ProviderMessage;
export type ParentMessage =
  | LoadMessage
  | { readonly kind: 'call'; readonly id: number; readonly call: CallMessage }
  | { readonly kind: 'abort'; readonly id: number; readonly reason: string };

export type ErrorFacts = {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  /** Frames in the module, paths relative to the project. */
  readonly frames: readonly string[];
  /** What broke says that it may pass: `retryable: true`. */
  readonly retryable: boolean;
  /** HTTP status and headers that it carries, and what caused it. */
  readonly status: number | null;
  readonly headers: { readonly [name: string]: string } | null;
  readonly cause: ErrorFacts | null;
};

export type ToolAnswer = { readonly status: ToolStatus; readonly text: string };

/** A definition as it was written, its functions as the text `[function]` and its schema as JSON Schema. */
export type GivenDefinition = { readonly path: readonly (string | number)[]; readonly given: Json };

export type ModuleDescription = {
  readonly kind: string | null;
  readonly value: unknown;
  readonly problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
  readonly tools: readonly GivenDefinition[];
  readonly scorers: readonly GivenDefinition[];
  readonly providers: readonly GivenDefinition[];
};

export type ChildMessage =
  | { readonly kind: 'loaded'; readonly description: ModuleDescription | null }
  | {
      readonly kind: 'answered';
      readonly id: number;
      /** A `ToolAnswer`, a `ScorerVerdict`, or what a provider said. */
      readonly answer: unknown;
      readonly heapBytes: number;
    }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly error: ErrorFacts;
      readonly heapBytes: number;
    }
  /** The process ends by itself: the module could not be loaded, or left an error that nobody caught. */
  | { readonly kind: 'broken'; readonly error: ErrorFacts };
