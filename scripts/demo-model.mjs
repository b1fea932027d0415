// A real small model end to end: `npm run demo:model`. Gets the model (about 240 MB) and the program that runs it,
// serves it on a loopback address, runs examples/local-endpoint/demo.yaml on it, and shows the leaderboard.
// Further arguments go to `assay run`: `npm run demo:model -- --limit 4`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { projectEnvironment } from './project-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const example = `${root}examples/local-endpoint`;

function installExample() {
  const installed = `${example}/node_modules/.package-lock.json`;
  const lock = `${example}/package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('Installing the packages of the example (once, about 30 MB) ...');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: example, stdio: 'inherit', env: projectEnvironment() });
  if (status === 0) return;
  console.error('Installing the packages of the example failed. They exist for Linux on x64 and arm64; for');
  console.error('other systems see examples/local-endpoint/README.md: any server of your own will do.');
  process.exit(1);
}

/** Resolves when the server answers; its process is ended with this one. */
async function startServer() {
  const args = ['--disable-warning=ExperimentalWarning', `${example}/server/main.mjs`];
  const server = spawn('node', args, { env: projectEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => server.kill('SIGKILL'));
  const ready = Promise.withResolvers();
  createInterface(server.stdout).on('line', (line) => {
    if (line.startsWith('ready: ')) ready.resolve(line.slice('ready: '.length));
    else console.log(line);
  });
  server.on('close', (code) => ready.reject(new Error(`the model's server ended with code ${code}`)));
  const address = await ready.promise;
  console.log(`A small model answers at ${address}.`);
  return server;
}

/** Beside this process, so that the lines of the server are read meanwhile. */
async function assay(...args) {
  const [code] = await once(spawn(`${root}bin/assay`, args, { cwd: root, stdio: 'inherit' }), 'close');
  return code ?? 1;
}

// Ctrl-C is for the command, which cancels its run; this goes on to the end behind it.
process.on('SIGINT', () => undefined);
installExample();
try {
  await startServer();
  process.exitCode = await assay('run', 'examples/local-endpoint/demo.yaml', ...process.argv.slice(2));
  await assay('down');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
