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
import { buildCells, buildModel, buildRows, scored } from '../reports/support.ts';

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
  writeFileSync(path, formatHtml({ rows, report: summarize(rows), details: [] }));
  await page.goto(pathToFileURL(path).href);
}

test.skipIf(executablePath === undefined)(
  'a page of 20,000 cells opens without a complaint, and fits a phone',
  async () => {
    const models = Array.from({ length: 20 }, (_, index) => buildModel(`model-${index}`));
    const outcomes = (model: number) =>
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [
          `case-${index}`,
          [scored(Number((index * 7) % 20 > model))],
        ]),
      );
    const cells = models.flatMap(({ modelId }, model) => buildCells({ modelId, outcomes: outcomes(model) }));
    await open(buildRows({ models, cells }));
    expect(await page.locator('table.matrix td').count()).toBe(20_000);
    await page.setViewportSize({ width: 390, height: 800 });
    const beyond = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(beyond).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  },
  120_000,
);

test.skipIf(executablePath === undefined)(
  'failures open with the keyboard, and every text has the contrast of WCAG AA in light and dark',
  async () => {
    await page.setViewportSize({ width: 1100, height: 900 });
    await open(buildCrowdedRun());
    await page.locator('#failures summary').first().focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#failures details').first().getAttribute('open')).toBe('');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
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
    (element) => element.closest('svg') === null && [...element.childNodes].some(isText),
  );
  return texts.flatMap((element) => {
    const [front, back] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    return contrast < 4.5 ? [element.tagName + ' ' + element.className + ' ' + contrast.toFixed(2)] : [];
  });
})()`;
