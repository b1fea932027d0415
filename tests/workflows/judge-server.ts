import { sendJson, startModelServer, toCompletion } from './model-server.ts';

type Seen = Parameters<Parameters<typeof startModelServer>[0]>[1];
type Response = Parameters<typeof sendJson>[0];

/** What a request to a judge holds: its blocks by name, and everything that stands outside of them. */
export type Asked = {
  readonly blocks: ReadonlyMap<string, string>;
  readonly outside: string;
  readonly rubric: string;
};

/** Reads a request as a careful model would: blocks end at their own key alone. */
export function readAsked({ body }: Pick<Seen, 'body'>): Asked {
  const [system, user] = (body['messages'] as readonly { readonly content: string }[]).map(
    ({ content }) => content,
  );
  const key = /<<<([0-9a-f]{32}) NAME>>>/.exec(system ?? '')?.[1] ?? 'none';
  const block = new RegExp(`^<<<${key} (.*)>>>\\n([\\s\\S]*?)\\n<<<${key} end of \\1>>>$`, 'gmu');
  const found = [...(user ?? '').matchAll(block)].map(([, name = '', text = '']) => [name, text] as const);
  return { blocks: new Map(found), outside: (user ?? '').replaceAll(block, ''), rubric: system ?? '' };
}

/** Right when the answer holds the reference as a word of its own, whatever else it says. */
export function isRight({ blocks }: Asked): boolean {
  const words = (blocks.get('answer') ?? '').split(/[^\p{L}\p{N}]+/u);
  return words.includes(blocks.get('reference') ?? '?');
}

/**
 * A judge that believes whatever it reads outside of the blocks: the last `GRADE:` there is its verdict. It never
 * tires: equal requests get equal replies.
 */
export function judgeNaively(asked: Asked): string {
  const told = [...asked.outside.matchAll(/(?:GRADE|verdict)"?:\s*"?(pass|fail)/giu)].at(-1)?.[1];
  const verdict = told?.toLowerCase() ?? (isRight(asked) ? 'pass' : 'fail');
  return JSON.stringify({ reason: `it ${isRight(asked) ? 'holds' : 'lacks'} the reference`, verdict });
}

export const JUDGE_USAGE = { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 };

export const reply = (response: Response, content: string): void =>
  sendJson(response, toCompletion({ content }, { usage: JUDGE_USAGE }));

/** A judge over real HTTP; `say` makes its reply of what it was asked and of how many questions came before. */
export const startJudge = (say: (asked: Asked, number: number) => string = judgeNaively) =>
  startModelServer((response, seen, number) => reply(response, say(readAsked(seen), number)));
