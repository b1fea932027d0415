// Finds a Chromium for the tests that look at pages; as root on a system with apt-get it is installed when missing.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program's path, or null, said aloud: the tests that need a browser are skipped then. Null as well when no test needs one. */
export function findChromium() {
  if (!someTestNeedsBrowser('tests')) return null;
  const present = onPath();
  if (present) return present;
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (mayInstall) install();
  const installed = onPath();
  if (!installed) {
    const why = mayInstall
      ? 'apt-get could not install it'
      : 'install it by the system\'s packages, for example "apt-get install chromium"';
    console.log(`No Chromium was found (${why}): the tests that need a browser are SKIPPED.`);
  }
  return installed;
}

function someTestNeedsBrowser(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .some((entry) =>
      readFileSync(join(entry.parentPath, entry.name), 'utf8').includes("from 'playwright-core'"),
    );
}

function onPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return (
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path)) ??
    null
  );
}

function install() {
  console.log('Installing Chromium for the tests that need a browser (once) ...');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 };
  const packages = ['install', '-y', '-qq', '--no-install-recommends', 'chromium'];
  if (spawnSync('apt-get', packages, { ...options, stdio: 'ignore' }).status === 0) return;
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', packages, options);
}
