import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { endProcess } from '../../src/local/process-identity.ts';
import { startTemporal } from '../../src/local/temporal-server.ts';
import type { TemporalSettings } from '../../src/local/temporal-settings.ts';
import type { Shape } from './workflows.ts';

/** What one setting costs. CPU is user and system time of each process; memory is the server's highest. */
export type Measurement = {
  readonly cellsPerSecond: number;
  readonly serverCpuMsPerCell: number;
  readonly workerCpuMsPerCell: number;
  readonly serverPeakMb: number;
  readonly databaseKbPerCell: number;
};

/** Runs one shape on a new server with the settings, worker in this process. */
export async function measure(
  settings: TemporalSettings,
  shape: Shape,
  bundle: WorkflowBundle,
): Promise<Measurement> {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-temporal-settings-'));
  const search = { environment: process.env, note: () => undefined };
  const server = await startTemporal({ dataDir, ports: null, settings, ...search });
  try {
    return await measureOn(
      { pid: server.process.pid, address: server.temporalAddress, dataDir },
      shape,
      bundle,
    );
  } finally {
    await endProcess(server.process, { signal: 'SIGTERM', graceMs: 15_000 });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Server = { readonly pid: number; readonly address: string; readonly dataDir: string };

async function measureOn(
  { pid, address, dataDir }: Server,
  shape: Shape,
  bundle: WorkflowBundle,
): Promise<Measurement> {
  const nativeConnection = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const answer = async (input: string) => `${input} ${'x'.repeat(200)}`;
  const worker = await Worker.create({
    connection: nativeConnection,
    taskQueue: 'bench',
    workflowBundle: bundle,
    activities: { answer, record: answer },
    maxConcurrentActivityTaskExecutions: shape.width,
  });
  const client = new Client({ connection });
  const run = async (workflowId: string, ownShape: Shape) =>
    client.workflow.execute('benchRun', { workflowId, taskQueue: 'bench', args: [ownShape] });
  try {
    return await worker.runUntil(async () => {
      await run('warm-up', { ...shape, cells: Math.min(shape.cells, 64) });
      const before = { atMs: performance.now(), serverMs: cpuMs(pid), worker: process.cpuUsage() };
      await run('measured', shape);
      const seconds = (performance.now() - before.atMs) / 1000;
      const workerCpu = process.cpuUsage(before.worker);
      return {
        cellsPerSecond: shape.cells / seconds,
        serverCpuMsPerCell: (cpuMs(pid) - before.serverMs) / shape.cells,
        workerCpuMsPerCell: (workerCpu.user + workerCpu.system) / 1000 / shape.cells,
        serverPeakMb: peakMb(pid),
        databaseKbPerCell: databaseKb(dataDir) / shape.cells,
      };
    });
  } finally {
    await connection.close();
    await nativeConnection.close();
  }
}

/** Installs a quiet runtime; once a process. */
export function quietRuntime(): void {
  Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} } });
}

/** The file with the workflows of this benchmark. */
export const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Clock ticks of 10 ms: utime and stime are fields 14 and 15.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function peakMb(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? 0) / 1024;
}

function databaseKb(dataDir: string): number {
  const file = join(dataDir, 'temporal', 'temporal.db');
  return (
    [file, `${file}-wal`].reduce(
      (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
      0,
    ) / 1024
  );
}
