/** An external agent: a program that is started in the session with the case as its prompt. */
export type CommandHarness = {
  readonly kind: 'command';
  /** What it was made of; null = the run file says all of it. */
  readonly preset: string | null;
  /** Program and arguments, with placeholders such as `{{model}}`. */
  readonly command: readonly string[];
  readonly prompt: PromptWay;
  /** Added to the session's minimal environment, with placeholders. */
  readonly variables: { readonly [name: string]: string };
  /** Variable of the agent -> name of the worker's variable that holds its value. */
  readonly variablesEnv: { readonly [name: string]: string };
  /** Model traffic goes through Assay's recording proxy. */
  readonly proxy: boolean;
  /** Requests to the model in one try, counted by the proxy; null = no such limit. */
  readonly maxTurns: number | null;
  readonly timeoutMs: number;
  /** Where the agent says what it used; read where the proxy does not know it. Null = nowhere. */
  readonly usage: UsageSource | null;
  readonly answer: AnswerSource;
};

export type PromptWay =
  | { readonly kind: 'argument' }
  | { readonly kind: 'stdin' }
  /** Path inside the session's directory. */
  | { readonly kind: 'file'; readonly path: string };

/** What the agent wrote: its stdout, or a file in the session's directory. */
export type TextSource = { readonly kind: 'stdout' } | { readonly kind: 'file'; readonly path: string };

/** Objects of JSON lines, or of one document, in which each path of `where` has this text. */
export type JsonSource = {
  readonly kind: 'json_lines' | 'json';
  readonly from: TextSource;
  readonly where: { readonly [path: string]: string };
};

/** Each figure by its name; several places add up, and so do several objects unless the last one counts. */
export type UsageSource =
  | {
      readonly source: JsonSource;
      readonly paths: { readonly [K in UsageFigure]?: readonly string[] };
      readonly combine: Combine;
    }
  | {
      readonly source: { readonly kind: 'pattern'; readonly from: TextSource };
      /** Regular expressions whose first group is the figure, such as `1,234`, `2.3k` or `0.05`. */
      readonly patterns: { readonly [K in UsageFigure]?: string };
      readonly combine: Combine;
    };

export type Combine = 'sum' | 'last';

export type UsageFigure =
  | 'inputTokens'
  | 'outputTokens'
  | 'reasoningTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'costUsd';

/** The last object that has the path counts. */
export type AnswerSource = TextSource | (JsonSource & { readonly path: string });

/** What placeholders stand for; those of the proxy are there where the harness uses it. */
export const PLACEHOLDERS = [
  'prompt',
  'promptFile',
  'model',
  'workdir',
  'openaiUrl',
  'anthropicUrl',
  'googleUrl',
  'token',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export const PROXY_PLACEHOLDERS: readonly string[] = ['openaiUrl', 'anthropicUrl', 'googleUrl', 'token'];

const PLACEHOLDER = /\{\{\s*([A-Za-z]\w*)\s*\}\}/g;

/** Names between double braces, each once, in order. */
export const listPlaceholders = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name)),
];

/** Puts values in place of placeholders; what a value says is not filled again. */
export const fillPlaceholders = (
  text: string,
  values: { readonly [K in Placeholder]?: string | undefined },
): string =>
  text.replace(PLACEHOLDER, (written, name: string) =>
    Object.hasOwn(values, name) ? (values[name as Placeholder] ?? written) : written,
  );

/** Whether the prompt stands in the command itself; else it becomes the last argument. */
export const holdsPrompt = (command: readonly string[]): boolean =>
  command.some((part) => listPlaceholders(part).includes('prompt'));

/** Linux starts no program with an argument of more bytes (MAX_ARG_STRLEN, its closing zero taken off). */
export const LONGEST_ARGUMENT_BYTES = 131_071;
