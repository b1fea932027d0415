import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import type { ReportRows } from '../src/domain/report-rows.ts';
import { formatHtml } from '../src/reports/html.ts';
import { summarize } from '../src/reports/summarize.ts';
import { buildDetails, buildLargeRun, buildSmallRun } from '../tests/reports/page-runs.ts';

/**
 * `node bench/report-page.ts CHROMIUM`: makes the report page of 20 cases and of 20,000 cells, opens each five times in
 * a browser of its own, prints how long that took, and takes the pictures of docs/.
 */
const [executablePath = process.env['ASSAY_TEST_CHROMIUM'] ?? '/usr/bin/chromium'] = process.argv.slice(2);
const TIMES = 5;
const folder = mkdtempSync(join(tmpdir(), 'assay-page-'));
try {
  for (const [picture, rows] of [
    ['report-page.png', buildSmallRun()],
    ['report-page-large.png', buildLargeRun()],
  ] as const)
    console.log(JSON.stringify(await measure(rows, picture)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(rows: ReportRows, picture: string): Promise<object> {
  const startedMs = performance.now();
  const report = summarize(rows);
  const summarizedMs = performance.now();
  const html = formatHtml({ rows, report, details: buildDetails(report) });
  const formattedMs = performance.now();
  const path = join(folder, 'page.html');
  writeFileSync(path, html);
  const openMs: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const browser = await chromium.launch({
      executablePath,
      args: ['--headless', '--no-sandbox', '--disable-gpu'],
    });
    openMs.push(await openPage(browser, path, time === 0 ? picture : null));
    await browser.close();
  }
  return {
    cells: rows.cells.length,
    bytes: html.length,
    summarizeMs: Math.round(summarizedMs - startedMs),
    formatMs: Math.round(formattedMs - summarizedMs),
    openMs: openMs.map(Math.round).toSorted((a, b) => a - b),
    load: loadavg()[0],
  };
}

/** Milliseconds from asking for the page until it is drawn and can be scrolled. */
async function openPage(browser: Browser, path: string, picture: string | null): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1100, height: 1500 } });
  const startedMs = performance.now();
  await page.goto(pathToFileURL(path).href);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const tookMs = performance.now() - startedMs;
  if (picture !== null) {
    await page.locator('#failures details').first().locator('summary').click();
    await page.screenshot({
      path: fileURLToPath(new URL(`../docs/${picture}`, import.meta.url)),
      fullPage: true,
      clip: { x: 0, y: 0, width: 1100, height: 2600 },
    });
  }
  return tookMs;
}
