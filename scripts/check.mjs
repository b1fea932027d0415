// Everything that must be green before a commit, side by side: format, lint, types, unused code, unit tests.
import { spawn } from 'node:child_process';
import { projectEnvironment } from './project-node.mjs';

const sources = ['src', 'tests', 'bench', 'vitest.config.ts'];
const steps = [
  ['oxfmt', '--check', ...sources],
  ['oxlint', '--type-aware', '--quiet', ...sources],
  ['tsc', '--noEmit'],
  ['knip'],
  ['vitest', 'run', '--project', 'unit'],
];

function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: projectEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ name: [command, ...args].join(' '), code, output }));
  });
}

const results = await Promise.all(steps.map(run));
for (const { name, code, output } of results) {
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  if (code !== 0) console.log(output);
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);
