// The README's first command: runs the quickstart on a stack of this project, then stops the stack.
// Further arguments go to `assay run`: `npm run demo -- --limit 4`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const assay = (...args) => spawnSync(`${root}bin/assay`, args, { cwd: root, stdio: 'inherit' }).status ?? 1;

const status = assay('run', 'examples/quickstart/run.yaml', ...process.argv.slice(2));
assay('down');
process.exit(status);
