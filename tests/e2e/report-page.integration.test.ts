import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReportRows } from '../../src/domain/report-rows.ts';
import { formatHtml } from '../../src/reports/html.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCrowdedRun } from '../reports/crowded-run.ts';
import { buildDetails, buildLargeRun, buildSmallRun } from '../reports/page-runs.ts';

/** Set by `npm test`, which finds a Chromium or installs one. */
const executablePath = process.env['ASSAY_TEST_CHROMIUM'];
if (executablePath === undefined) {
  console.log('SKIPPED: the report page in a browser. ASSAY_TEST_CHROMIUM names no Chromium.');
}

const folder = mkdtempSync(join(tmpdir(), 'assay-page-'));
let browser: Browser;
let page: Page;
const complaints: string[] = [];
beforeAll(async () => {
  if (executablePath === undefined) return;
  browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) complaints.push(request.url());
  });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(rows: ReportRows): Promise<void> {
  const path = join(folder, 'page.html');
  const report = summarize(rows);
  writeFileSync(path, formatHtml({ rows, report, details: buildDetails(report) }));
  await page.goto(pathToFileURL(path).href);
}

const countBeyond = () => page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

/** Titles of the charts that can be seen, and how wide they are. */
const listCharts = () =>
  page.evaluate(`[...document.querySelectorAll('.chart')].filter((chart) => chart.offsetWidth > 0)
    .map((chart) => [chart.getAttribute('aria-label').split(':')[0], chart.querySelector('svg').getBoundingClientRect().width])`) as Promise<
    [string, number][]
  >;

test.skipIf(executablePath === undefined)(
  'a page of 20,000 cells opens without a complaint, holds every cell, and fits a phone',
  async () => {
    await page.setViewportSize({ width: 1100, height: 900 });
    await open(buildLargeRun());
    expect(await page.locator('table.matrix td').count()).toBe(20_000);
    expect((await listCharts()).map(([title]) => title)).toEqual([
      'Mean with its 95% interval',
      'Cost of an attempt against the mean',
      'Latency from p50 to p99, dot at p95',
    ]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await countBeyond()).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  },
  120_000,
);

test.skipIf(executablePath === undefined)(
  'a page of 20 cases shows failures first, each with what was asked, expected and said, and charts that fit',
  async () => {
    await page.setViewportSize({ width: 1100, height: 900 });
    await open(buildSmallRun());
    expect(await page.locator('section h2').allTextContents()).toEqual(['Failures', 'questions']);
    const wrong = page.locator('#failures details', { hasText: 'wrong' }).first();
    await wrong.locator('summary').first().focus();
    await page.keyboard.press('Enter');
    expect(await wrong.locator('pre:visible').allTextContents()).toEqual([
      'My order came broken. What now?',
      'refund',
      'lookup_order {"order":7}',
      'delivered on Monday',
      'I cannot help with that.',
    ]);
    expect(await listCharts()).toHaveLength(4);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await countBeyond()).toBeLessThanOrEqual(0);
    const narrow = await listCharts();
    expect(narrow).toHaveLength(4);
    // Drawn for this width and not shrunk to it, so that its letters keep their size.
    for (const [title, width] of narrow)
      expect({ title, isWhole: width >= 340 }).toEqual({ title, isWhole: true });
    expect(complaints).toEqual([]);
  },
  120_000,
);

test.skipIf(executablePath === undefined)(
  'all of a page is reached with the keyboard, and every text has the contrast of WCAG AA in light and dark',
  async () => {
    await page.setViewportSize({ width: 1100, height: 900 });
    await open(buildCrowdedRun());
    await page.locator('#failures summary').first().focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#failures details').first().getAttribute('open')).toBe('');
    const reached = new Set<unknown>();
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate(
          `document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName`,
        ),
      );
    }
    for (const place of ['SUMMARY', 'Leaderboard of tickets', 'Cases by models'])
      expect(reached).toContain(place);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(FIND_FAINT)).toEqual([]);
    }
    expect(complaints).toEqual([]);
  },
  120_000,
);

/** Runs in the page: texts whose contrast with what is behind them is below 4.5. */
const FIND_FAINT = `(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (color) => {
    const [red, green, blue] = color
      .slice(0, 3)
      .map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    if (element === null) return [255, 255, 255];
    const color = parse(getComputedStyle(element).backgroundColor);
    return color.length === 4 && color[3] === 0 ? behind(element.parentElement) : color;
  };
  const isText = (node) => node.nodeType === 3 && node.textContent.trim() !== '';
  const texts = [...document.querySelectorAll('body *')].filter(
    (element) => !['style', 'title'].includes(element.tagName) && [...element.childNodes].some(isText),
  );
  return texts.flatMap((element) => {
    const style = getComputedStyle(element);
    const color = element.closest('svg') === null ? style.color : style.fill;
    const [front, back] = [light(parse(color)), light(behind(element))];
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    return contrast < 4.5 ? [element.tagName + ' ' + element.className + ' ' + contrast.toFixed(2)] : [];
  });
})()`;
