export const toCaseId = (index: number): string => `case-${String(index + 1).padStart(3, '0')}`;

export type RunDocumentOptions = {
  readonly baseUrl: string;
  readonly cases: number;
  readonly packing: 'auto' | 'off';
  /** Calls at once; twice as many attempts are open. */
  readonly slots?: number;
};

/**
 * Cases x 2 models, 16 attempts at a time over 8 slots of the provider: at any moment some calls are in flight and
 * some wait to be sent.
 */
export function createDirectRun({ baseUrl, cases, packing, slots = 8 }: RunDocumentOptions): unknown {
  return {
    name: 'crash',
    ...models(baseUrl, ['left', 'right'], slots),
    suite: {
      name: 'cells',
      scorers: ['exact'],
      cases: Array.from({ length: cases }, (_, index) => ({
        id: toCaseId(index),
        input: `Say the name of this case: [${toCaseId(index)}]`,
        target: toCaseId(index),
      })),
    },
    execution: { taskConcurrency: 2 * slots, seed: 7, packing },
  };
}

/** Each cell's agent calls `bash` once; its command is `toCommand(case id)`. */
export function createAgentRun(
  baseUrl: string,
  { cases, toCommand }: { readonly cases: number; readonly toCommand: (caseId: string) => string },
): unknown {
  return {
    name: 'crash-agents',
    ...models(baseUrl, ['agent']),
    suite: {
      name: 'cells',
      scorers: ['exact'],
      cases: Array.from({ length: cases }, (_, index) => ({
        id: toCaseId(index),
        input: `Work on [${toCaseId(index)}]\nRUN: ${toCommand(toCaseId(index))}\n`,
        target: toCaseId(index),
      })),
    },
    harness: { kind: 'agent', tools: ['bash'] },
    environment: 'host',
    execution: { taskConcurrency: 4, seed: 7 },
  };
}

const models = (baseUrl: string, names: readonly string[], slots = 8) => ({
  models: names.map((name) => ({ id: name, provider: 'local', model: name })),
  providers: [{ id: 'local', kind: 'openai-compatible', baseUrl, limits: { concurrency: slots } }],
});
