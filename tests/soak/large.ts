import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stopAsUser } from '../crash/crash-trial.ts';
import { runLargeTrial } from '../crash/large-trial.ts';
import { createWorkplace } from '../crash/workplace.ts';
import { formatLarge, judgeLarge } from './large-section.ts';
import { replaceSection } from './page-section.ts';

/**
 * `npm run soak:large`: a run of 20,000 cells whose command, worker and servers are killed together in the middle, and
 * its section of docs/soak.md. `--cells 20000` (even), `--no-write`. Exit code 1 when something did not hold.
 */
const OUTPUT = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));
const LIMIT_MS = 25 * 60_000;

const { values } = parseArgs({
  allowNegative: true,
  options: { cells: { type: 'string', default: '20000' }, write: { type: 'boolean', default: true } },
});
const loads: number[] = [];
const looking = setInterval(() => loads.push(loadavg()[0] ?? 0), 10_000);
const workplace = await createWorkplace([5, 20]);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void workplace.remove().then(() => process.exit(130)));
try {
  const result = await runLargeTrial(workplace, {
    cells: Number(values.cells),
    seed: 1,
    limitMs: LIMIT_MS,
    everyMs: 5_000,
  });
  const problems = [...result.problems, ...(await stopAsUser(workplace))];
  const load = loads.reduce((sum, one) => sum + one, 0) / Math.max(1, loads.length);
  const section = formatLarge({ ...result, problems }, { cores: availableParallelism(), load });
  console.log([section, ...problems.slice(0, 20)].join('\n'));
  if (values.write) writeFileSync(OUTPUT, replaceSection(readFileSync(OUTPUT, 'utf8'), 'large run', section));
  process.exitCode = judgeLarge({ ...result, problems }).every(({ holds }) => holds) ? 0 : 1;
} finally {
  clearInterval(looking);
  await workplace.remove();
}
