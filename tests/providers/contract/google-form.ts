import type { SeenRequest } from '../http-server.ts';
import { GOOGLE_FAILURES } from './google-failures.ts';
import { halves, toCounts } from './wire-form.ts';
import type { Said, WireEvent, WireForm } from './wire-form.ts';

const SIGNATURE = 'CikB-signature-1';
const REASONS = { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' } as const;

const toUsage = (said: Said): object => {
  const counts = toCounts(said);
  if (counts === null) return {};
  const spoken = counts.output - counts.reasoning;
  return {
    usageMetadata: {
      promptTokenCount: counts.input,
      // Zeros are left out on this wire.
      ...(spoken === 0 ? {} : { candidatesTokenCount: spoken }),
      ...(counts.reasoning === 0 ? {} : { thoughtsTokenCount: counts.reasoning }),
      ...(counts.cacheRead === 0 ? {} : { cachedContentTokenCount: counts.cacheRead }),
      totalTokenCount: counts.input + counts.output,
    },
  };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const toCalls = (said: Said): readonly object[] =>
  (said.tools ?? []).map((tool, index) => ({
    functionCall: { name: tool.name, args: parse(tool.arguments) },
    ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
  }));

const toChunk = (said: Said, parts: readonly object[], last: boolean): unknown => ({
  candidates: [
    {
      content: { parts, role: 'model' },
      index: 0,
      ...(last ? { finishReason: REASONS[said.finish ?? 'stop'] } : {}),
    },
  ],
  ...(last ? toUsage(said) : {}),
  modelVersion: 'gemini-2.5-pro',
  responseId: 'resp-1',
});

const toThought = (text: string) => ({ text, thought: true });

function toAnswer(said: Said): unknown {
  const parts = [
    ...(said.thought === undefined ? [] : [toThought(said.thought)]),
    ...(said.text === undefined ? [] : [{ text: said.text }]),
    ...toCalls(said),
  ];
  return toChunk(said, parts, true);
}

function toEvents(said: Said): readonly WireEvent[] {
  const pieces = [
    ...(said.thought === undefined ? [] : halves(said.thought).map(toThought)),
    ...(said.text === undefined ? [] : halves(said.text).map((text) => ({ text }))),
    ...toCalls(said),
  ];
  return [
    ...pieces.map((part) => ({ data: toChunk(said, [part], false) })),
    { data: toChunk(said, [{ text: '' }], true) },
  ];
}

export const GOOGLE: WireForm = {
  name: 'google',
  kind: 'google',
  model: 'gemini-2.5-pro',
  params: { includeThoughts: true },
  toAnswer,
  toEvents,
  overload: {
    event: {
      data: {
        error: {
          code: 503,
          message: 'The model is overloaded. Please try again later.',
          status: 'UNAVAILABLE',
        },
      },
    },
    message: /The model is overloaded/,
  },
  counts: { cacheRead: true, reasoning: true },
  thinks: true,
  readTurn: (seen: SeenRequest) => (seen.body['contents'] as unknown[]).slice(1),
  turn: [
    {
      role: 'model',
      parts: [
        { text: 'Look first.', thought: true },
        { text: 'I look.' },
        {
          functionCall: { id: 'c00001001', name: 'look', args: { where: 'here' } },
          thoughtSignature: SIGNATURE,
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c00001001',
            name: 'look',
            response: { name: 'look', content: 'a door' },
          },
        },
      ],
    },
  ],
  readKey: (seen) => seen.headers['x-goog-api-key'],
  failures: GOOGLE_FAILURES,
};
