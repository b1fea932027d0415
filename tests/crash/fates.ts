import { drawFrom } from '../../src/domain/stable-hash.ts';

/** What a billed model does with a request. */
export type Fate = {
  /** `busy` = refused and not billed; `cut` = billed, and the connection ends without an answer. */
  readonly kind: 'answered' | 'busy' | 'cut';
  /** Input and output; 0 for a model that is not billed. */
  readonly billedTokens: number;
};

/** Models of these names are billed, cost what the draw says and are busy at times; `cut` also cuts connections. */
export const BILLED = { cut: 'billed-cut', heard: 'billed-heard' } as const;

export const INPUT_TOKENS = 20;
/** The most that an answer has. */
export const OUTPUT_TOKENS = 200;

/** The same for the same number of the request. */
export function drawFate(model: string, number: number): Fate {
  if (model !== BILLED.cut && model !== BILLED.heard) return { kind: 'answered', billedTokens: 0 };
  const fate = drawFrom(`fate/${number}`);
  if (fate < 0.15) return { kind: 'busy', billedTokens: 0 };
  // Nearly the most, so that the most that a run may need is little more than what it does need.
  const least = model === BILLED.heard ? 0.9 : 0;
  const drawn = least + (1 - least) * drawFrom(`cost/${number}`);
  const billedTokens = INPUT_TOKENS + Math.ceil(drawn * OUTPUT_TOKENS);
  return { kind: fate < 0.25 && model === BILLED.cut ? 'cut' : 'answered', billedTokens };
}
