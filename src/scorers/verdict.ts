import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';

/** A judged answer: passes when its value reaches the threshold. */
export const scored = (judged: {
  readonly value: number;
  readonly threshold: number;
  readonly explanation: string;
  readonly metrics?: JsonObject;
}): ScorerVerdict => ({
  kind: 'scored',
  value: judged.value,
  pass: judged.value >= judged.threshold,
  explanation: judged.explanation,
  metrics: judged.metrics ?? {},
});

/** No judgement: a code for programs and a sentence that says what to do. */
export const unscored = (code: string, explanation: string): ScorerVerdict => ({
  kind: 'unscored',
  code,
  explanation,
});

/** The verdict of a scorer under `not`: what passed does not, and no judgement stays none. */
export const turned = (verdict: ScorerVerdict): ScorerVerdict =>
  verdict.kind === 'unscored'
    ? verdict
    : {
        ...verdict,
        value: 1 - verdict.value,
        pass: !verdict.pass,
        explanation: `${verdict.pass ? 'must not pass' : 'rightly does not pass'}: ${verdict.explanation}`,
      };

export const noTarget = (kind: string): ScorerVerdict =>
  unscored(
    'no_target',
    `scorer ${kind} compares with a target and this case has none: give the case a target`,
  );

/** A text as an explanation shows it: on one line, in quotes, cut in the middle above `maxLength` characters. */
export function quote(text: string, maxLength = 80): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  if (characters.length <= maxLength) return JSON.stringify(characters.join(''));
  const head = Math.ceil((maxLength - 1) / 2);
  const tail = maxLength - 1 - head;
  return JSON.stringify(`${characters.slice(0, head).join('')}…${characters.slice(-tail).join('')}`);
}

/** Several texts as an explanation lists them: the first three, then how many more. */
export function quoteList(texts: readonly string[]): string {
  const shown = texts.slice(0, 3).map((text) => quote(text, 60));
  const more = texts.length - shown.length;
  return more > 0 ? `${shown.join(', ')} or ${more} more` : shown.join(' or ');
}
