import { expect, test, vi } from 'vitest';
import { openModule } from './pool.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a similarity of your own and a scorer in the form of autoevals judge from a run file', async () => {
  const { judge } = await openModule(`
    import { defineSimilarity, fromAutoevals } from 'assay';
    // Letters as the space of meaning: enough to have an angle.
    const embed = (texts: readonly string[]) =>
      texts.map((text) => [...'yesnojah'].map((letter) => text.split(letter).length - 1));
    export const meaning = defineSimilarity({ name: 'meaning', embed });
    export const odd = defineSimilarity({ name: 'odd', embed: () => [[1]] });
    const Close = async ({ output, expected, input, scale }: { output: string; expected?: string; input?: string; scale: number }) =>
      ({ name: 'Close', score: output === expected ? 1 : scale, metadata: { rationale: input } });
    export const close = fromAutoevals('close', Close, { scale: 0.25 });
    export const none = fromAutoevals('none', () => ({ score: null }));`);
  expect(await judge('meaning', 'yes')).toMatchObject({ value: 1, explanation: 'cosine 1.000' });
  expect(await judge('meaning', 'no')).toMatchObject({ value: 0 });
  expect(await judge('meaning', 'yesno')).toMatchObject({
    value: expect.closeTo(3 / Math.sqrt(15), 6) as number,
  });
  expect(await judge('odd')).toMatchObject({
    kind: 'unscored',
    explanation: expect.stringContaining('embed gave too few vectors: one for each of 2 texts') as string,
  });
  expect(await judge('close')).toMatchObject({ value: 1, explanation: 'Well?' });
  expect(await judge('close', 'never')).toMatchObject({ value: 0.25, pass: false });
  expect(await judge('none')).toMatchObject({ kind: 'unscored', code: 'abstained' });
});
