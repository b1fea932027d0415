// Installs the packages of the lock file when they are missing or out of date. Runs on any Node from 18 on.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
const fresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;
if (!fresh) {
  console.log('Installing packages (once) ...');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: 'inherit' });
  if (npm.status !== 0) {
    console.error(
      'Installing the packages failed. Look at the lines above; npm needs to reach its registry.',
    );
    process.exit(npm.status ?? 1);
  }
}
