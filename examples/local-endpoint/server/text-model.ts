/** What one completion is asked for. */
export type Completion = {
  /** The text that the model goes on with. */
  readonly prompt: string;
  readonly maxTokens: number;
  /** 0 = always the likeliest token. */
  readonly temperature: number;
  readonly topP: number | null;
  /** Equal seeds give equal texts; null = another one each time. */
  readonly seed: number | null;
  /** The text ends before the first of these. */
  readonly stop: readonly string[];
  readonly signal: AbortSignal;
  /** Told each piece of the text as it is made. */
  readonly onText: (text: string) => void;
};

export type Completed = {
  readonly finishReason: 'stop' | 'length';
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** A model that goes on with a text. It does one thing at a time: whoever calls it waits for the end first. */
export interface TextModel {
  /** The name under which it is asked for. */
  readonly name: string;
  /** How many tokens of prompt and answer fit together. */
  readonly contextTokens: number;
  countTokens(text: string): number;
  /** Rejects with the reason of the signal when that fires. */
  complete(completion: Completion): Promise<Completed>;
}
