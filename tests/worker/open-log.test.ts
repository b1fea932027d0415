import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { expect, test } from 'vitest';

const PROGRAM = `
  import { openLog } from '${new URL('../../src/worker/open-log.ts', import.meta.url).href}';
  const logger = openLog();
  for (let line = 0; line < 3; line += 1) {
    logger.info('a line');
    process.stderr.write('another line\\n');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  process.exitCode = 42;
`;

test.skipIf(process.platform !== 'linux')('a worker whose log has no room goes on', () => {
  const full = openSync('/dev/full', 'w');
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', full, full],
  });
  expect(status).toBe(42);
});
