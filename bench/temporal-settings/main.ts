// Measures settings of the local Temporal server: node bench/temporal-settings/main.ts [cells] [cells a task] [variant ...]
import { bundleWorkflowCode } from '@temporalio/worker';
import { measure, quietRuntime, workflowsPath } from './measure.ts';
import { variants } from './variants.ts';

const [cells = '400', perTask = '1', ...names] = process.argv.slice(2);
const shape = { cells: Number(cells), perTask: Number(perTask), width: 64 };
quietRuntime();
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const bundle = await bundleWorkflowCode({ workflowsPath, logger: silent });

console.log(`${cells} cells, ${perTask} a task workflow, 2 activities a cell, 64 at once`);
console.log(
  '| Settings | Server CPU ms/cell | Worker CPU ms/cell | Cells/s | Server peak MB | Database kB/cell |',
);
console.log('|---|---|---|---|---|---|');
for (const name of names.length > 0 ? names : Object.keys(variants)) {
  const settings = variants[name];
  if (!settings) throw new Error(`no variant "${name}"; there are: ${Object.keys(variants).join(', ')}`);
  const found = await measure(settings, shape, bundle);
  const figures = [
    found.serverCpuMsPerCell.toFixed(1),
    found.workerCpuMsPerCell.toFixed(1),
    found.cellsPerSecond.toFixed(0),
    found.serverPeakMb.toFixed(0),
    found.databaseKbPerCell.toFixed(1),
  ];
  console.log(`| ${name} | ${figures.join(' | ')} |`);
}
