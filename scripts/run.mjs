// Runs a package's command on the project's own Node: `node scripts/run.mjs oxlint src`.
import { spawnSync } from 'node:child_process';
import { projectEnvironment } from './project-node.mjs';

const [command, ...args] = process.argv.slice(2);
const { status } = spawnSync(command, args, { stdio: 'inherit', env: projectEnvironment() });
process.exit(status ?? 1);
