import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { expect, test } from 'vitest';

const PROGRAM = `
  import { openLog } from '${new URL('../../src/worker/open-log.ts', import.meta.url).href}';
  const logger = openLog((line) => line);
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

const LEAKY_PROGRAM = `
  import { openLog } from '${new URL('../../src/worker/open-log.ts', import.meta.url).href}';
  import { createRedactor } from '${new URL('../../src/domain/redact.ts', import.meta.url).href}';
  const { redact } = createRedactor(['hu"sh/hush']);
  const err = new Error('no hu"sh/hush', { cause: new Error('inner hu"sh/hush') });
  openLog(redact).error({ err, ['hu"sh/hush']: encodeURIComponent('hu"sh/hush') }, 'sk-proj-0123456789abcdefgh');
`;

test('a line of the log holds neither a known key nor what has the shape of one, and is still JSON', () => {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', LEAKY_PROGRAM], {
    encoding: 'utf8',
  });
  const line = JSON.parse(stdout) as { msg: string; err: { message: string; stack: string } };
  expect(line).toMatchObject({ msg: '[redacted]', '[redacted]': '[redacted]' });
  expect(line.err.message).toBe('no [redacted]: inner [redacted]');
  expect(stdout).not.toMatch(/sh.{0,3}hush|0123456789/);
});
