import { expect, test } from 'vitest';
import { drawWidths } from '../../bench/widths/draw-widths.ts';
import { toPoints } from '../../bench/widths/width-points.ts';
import { formatPage, toSimulatedIdeal } from '../../bench/widths/widths-page.ts';
import { toIdealSeconds, WIDTHS, WORKS, type Width } from '../../bench/widths/works.ts';

const run = (width: Width, seconds: number) => ({
  width,
  seconds,
  cells: 33,
  unscored: 0,
  requests: 33,
  failedRequests: width === 32 ? 3 : 0,
  costUsd: 0.0132,
});

const points = toPoints([...WIDTHS, 'auto' as const].flatMap((width) => [run(width, 9), run(width, 11)]));
const curve = { suite: 'light', points };

test('the page of widths holds every point with its repeats and spread, what is recommended, and why a width is out', () => {
  const page = formatPage([{ title: 'Simulated', curves: [curve], toIdeal: toSimulatedIdeal }], {
    cores: 2,
    load: 1,
  });
  expect(page).toContain('| 8 | 2 | 10.0 | 9.0 to 11.0 | 1.5 | 0.0 % of 66 | 0.0 % of 66 | 0.0132 |');
  expect(page).toContain('| auto | 2 |');
  expect(page).toContain('**Recommended width: 1**');
  expect(page).toContain('- 32 is out: light: 9.1 % of the requests were refused or failed');
});

test('the curve is one SVG without anything from elsewhere: a dot and a bar for each width, none for auto', () => {
  const drawn = drawWidths([{ ...curve, toIdealSeconds: () => 1 }], 'Wall clock by width');
  expect(drawn).toContain('<title>light, width 16: 10.0 s</title>');
  expect(drawn.match(/<circle/g)).toHaveLength(WIDTHS.length);
  expect(drawn).toContain('aria-label="Wall clock by width"');
  expect(drawn.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|NaN/);
});

test('the least possible time is that of the waves, and beyond that of the rate limit', () => {
  const [light, heavy] = WORKS;
  if (light === undefined || heavy === undefined) throw new Error('no works');
  expect(toIdealSeconds(light, 1)).toBeCloseTo(33 * 0.3);
  expect(toIdealSeconds(light, 8)).toBeCloseTo(5 * 0.3);
  expect(toIdealSeconds(light, 32)).toBeCloseTo((33 - 8) / 20);
  expect(toIdealSeconds(heavy, 'auto')).toBeCloseTo((39 - 8) / 20);
});
