// Runs every test on the project's own Node and ends with one plain line: "N passed, N failed".
// Further arguments go to vitest: `npm test -- tests/store`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from './chromium.mjs';
import { projectEnvironment } from './project-node.mjs';

/** Counts of vitest's JSON report. A file that could not be loaded counts as one failed test. */
export function countTests(report) {
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = report.numFailedTests + unloaded.length;
  return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed };
}

/** Tests that failed and passed when they ran again: a line each, with the first line of what failed. */
export function listRetried(report) {
  return report.testResults.flatMap(({ assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0].split('\n')[0]}`),
  );
}

function main() {
  const chromium = findChromium();
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-report-'));
  const reportFile = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const env = { ...projectEnvironment(), ...(chromium ? { ASSAY_TEST_CHROMIUM: chromium } : {}) };
  const { status } = spawnSync('vitest', ['run', ...reporters, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env,
  });
  let counts = { passed: 0, failed: 1 };
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8'));
    counts = countTests(report);
    for (const line of listRetried(report)) console.log(`PASSED ONLY ON ITS SECOND TRY: ${line}`);
  } catch {
    console.error('vitest ended without a report.');
  }
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed === 0 ? 0 : 1);
}

main();
