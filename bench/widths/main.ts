import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startBenchStack, type BenchStack } from '../bench-stack.ts';
import { drawWidths } from './draw-widths.ts';
import { runWork, type Target } from './run-work.ts';
import { toPoints, type WidthRun } from './width-points.ts';
import { formatCurve, formatPage, formatRecommendation, SIMULATED_TITLE } from './widths-page.ts';
import { toSimulatedIdeal, type Measured } from './widths-page.ts';
import { PRICE, TOKENS, WIDTHS, WORKS, type Width, type Work } from './works.ts';

/**
 * `npm run bench:widths`: both suites at every width over a simulated provider with a rate limit, and one round live
 * when OPENAI_API_KEY is set. Writes docs/widths.md and docs/widths.svg. `--repeats 3`; `--minutes 5` (no round is
 * begun that would not end by then, but the first one is); `--no-live`; `--no-write`.
 */
const { values } = parseArgs({
  allowNegative: true,
  options: {
    repeats: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '5' },
    live: { type: 'boolean', default: true },
    write: { type: 'boolean', default: true },
  },
});
const endMs = performance.now() + Number(values.minutes) * 60_000;
const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const loads: number[] = [];

type Round = (work: Work, width: Width) => Promise<WidthRun>;
type Runs = ReadonlyMap<Work['name'], WidthRun[]>;

const bench = await startBenchStack();
const provider = await startProvider();
try {
  const simulated = toMeasured(SIMULATED_TITLE, await measureSimulated(bench, provider.url));
  const measured = [simulated, ...(await measureLive(bench))];
  report(measured);
} finally {
  await bench.close();
  provider.stop();
}

async function measureSimulated(stack: BenchStack, url: string): Promise<Runs> {
  let number = 0;
  const round: Round = async (work, width) => {
    number += 1;
    const address = `${url}/run-${number}`;
    const run = await runWork(stack, { work, width, target: toSimulated(work, `${address}/v1`) });
    const { asked } = (await (await fetch(`${address}/count`)).json()) as { asked: number };
    if (asked !== run.requests)
      throw new Error(`the provider was asked ${asked} times, the store says ${run.requests}`);
    return run;
  };
  for (const work of WORKS) await round(work, 8);
  return await repeat(round, Number(values.repeats));
}

function toSimulated(work: Work, baseUrl: string): Target {
  return {
    provider: { id: 'sim', kind: 'openai-compatible', baseUrl },
    model: {
      id: 'sim',
      provider: 'sim',
      model: work.name,
      price: PRICE,
      params: { maxOutputTokens: TOKENS.output },
    },
    budgets: {},
  };
}

async function measureLive(stack: BenchStack): Promise<Measured[]> {
  if (!values.live || !process.env['OPENAI_API_KEY']) {
    console.log('not live: OPENAI_API_KEY is not set, or --no-live');
    return [];
  }
  const model = process.env['ASSAY_WIDTHS_MODEL'] ?? 'gpt-5-mini';
  const target: Target = {
    provider: { id: 'live', kind: 'openai' },
    model: { id: 'live', provider: 'live', model, params: { maxOutputTokens: 1_000 } },
    budgets: { maxRunUsd: 0.5 },
  };
  const runs = await repeat((work, width) => runWork(stack, { work, width, target }), 1);
  return [{ ...toMeasured(`Live: openai ${model}`, runs), toIdeal: null }];
}

/** Rounds over all widths, so that an hour of the machine meets all of them alike. */
async function repeat(round: Round, repeats: number): Promise<Runs> {
  const runs: Runs = new Map(WORKS.map(({ name }) => [name, []]));
  for (let index = 0, longestMs = 0; index < repeats; index += 1) {
    const startedMs = performance.now();
    if (index > 0 && startedMs + longestMs > endMs) break;
    for (const work of WORKS)
      for (const width of [...WIDTHS, 'auto'] as const) {
        const run = await round(work, width);
        runs.get(work.name)?.push(run);
        loads.push(loadavg()[0] ?? 0);
        console.log(`${index + 1} ${work.name} ${JSON.stringify(run)}`);
      }
    longestMs = Math.max(longestMs, performance.now() - startedMs);
  }
  return runs;
}

function toMeasured(title: string, runs: Runs): Measured {
  return {
    title,
    curves: [...runs].map(([suite, own]) => ({ suite, points: toPoints(own) })),
    toIdeal: toSimulatedIdeal,
  };
}

function report(measured: readonly Measured[]): void {
  for (const { title, curves, toIdeal } of measured) {
    console.log(`\n${title}`);
    for (const curve of curves) console.log(`\n${curve.suite}\n${formatCurve(curve, toIdeal)}`);
    console.log(`\n${formatRecommendation(curves)}`);
  }
  if (!values.write) return;
  const load = loads.reduce((sum, one) => sum + one, 0) / Math.max(1, loads.length);
  writeFileSync(`${docs}widths.md`, formatPage(measured, { cores: availableParallelism(), load }));
  writeFileSync(`${docs}widths.svg`, drawSimulated(measured[0]));
}

function drawSimulated(measured: Measured | undefined): string {
  const curves = (measured?.curves ?? []).map(({ suite, points }) => ({
    suite,
    points,
    toIdealSeconds: (width: number) => toSimulatedIdeal(suite, width),
  }));
  return drawWidths(curves, 'Wall clock by width, simulated provider with a rate limit');
}

async function startProvider(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const path = fileURLToPath(new URL('endpoint.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${port.toString().trim()}`, stop: () => void child.kill('SIGTERM') };
}
