import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectAssay, type AssayConnection } from '../src/client/connect.ts';
import { ensureStack, type Stack } from '../src/local/stack.ts';
import { readStackFile } from '../src/local/stack-file.ts';
import { stopStack } from '../src/local/stop-stack.ts';
import { measureTree } from './cpu.ts';

const PARTS = ['worker', 'temporal', 'postgres'] as const;
export type Usage = { readonly [part in (typeof PARTS)[number]]: { cpuSeconds: number; memoryMb: number } };

/** An embedded stack in a folder of its own, as a user has it, and a simulated endpoint beside it. */
export type BenchStack = {
  readonly dataDir: string;
  readonly stack: Stack;
  readonly connection: AssayConnection;
  readonly endpointUrl: string;
  readonly measure: () => Usage;
  readonly countRequests: () => Promise<number>;
  readonly ensure: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startBenchStack(): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'));
  // As root the database runs as `nobody`, who must be able to enter, or it lands elsewhere and stays there.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, '.assay');
  const launcher = fileURLToPath(new URL('../bin/assay', import.meta.url));
  const options = {
    dataDir,
    environment: process.env,
    workerCommand: [launcher, 'worker', '--stack'],
    note: () => undefined,
  };
  const endpoint = await startEndpoint();
  const stack = await ensureStack(options);
  const connection = await connectAssay({
    databaseUrl: stack.databaseUrl,
    temporal: { address: stack.temporalAddress, namespace: stack.namespace },
  });
  return {
    dataDir,
    stack,
    connection,
    endpointUrl: `http://127.0.0.1:${endpoint.port}/v1`,
    measure: () => measureParts(dataDir),
    countRequests: async () => Number(await (await fetch(`http://127.0.0.1:${endpoint.port}/count`)).text()),
    ensure: async () => (await ensureStack(options)).leave(),
    close: async () => {
      await connection.close();
      stack.leave();
      await stopStack(dataDir);
      endpoint.process.kill('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startEndpoint(): Promise<{ readonly process: ChildProcess; readonly port: number }> {
  const path = fileURLToPath(new URL('endpoint.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  return { process: child, port: Number(first.toString()) };
}

function measureParts(dataDir: string): Usage {
  const file = readStackFile(dataDir);
  const measured = PARTS.map((part) => {
    const pid = file?.[part]?.process?.pid;
    return [part, pid === undefined ? { cpuSeconds: 0, memoryMb: 0 } : measureTree(pid)] as const;
  });
  return Object.fromEntries(measured) as Usage;
}

/** Seconds of the bare script for the same calls. */
export async function runFloor(
  endpointUrl: string,
  calls: { model: string; count: number; slots: number },
): Promise<number> {
  const path = fileURLToPath(new URL('floor.ts', import.meta.url));
  const { model, count, slots } = calls;
  const { stdout } = await promisify(execFile)(process.execPath, [
    path,
    endpointUrl,
    model,
    String(count),
    String(slots),
  ]);
  return Number(stdout);
}
