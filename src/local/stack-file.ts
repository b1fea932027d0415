import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, processIdentity } from './process-identity.ts';

const port = z.number().int().min(1).max(65_535);

const stackFile = z.object({
  format: z.literal(1),
  /** Assay's version that wrote the file. */
  version: z.string(),
  /** Set while the parts are being stopped, so that no command takes them for running. */
  stopping: z.boolean(),
  /** The process is null when the part was stopped; its ports are kept, so that it takes them again. */
  postgres: z.object({ process: processIdentity.nullable(), port }).nullable(),
  temporal: z.object({ process: processIdentity.nullable(), port, uiPort: port }).nullable(),
  worker: z
    .object({
      process: processIdentity.nullable(),
      version: z.string(),
      /** A digest of the addresses that it works with. */
      target: z.string(),
    })
    .nullable(),
});

/** What `.assay/stack.json` says: the parts of the local stack, their processes and ports. Never a password. */
export type StackFile = z.infer<typeof stackFile>;

/** Reads the stack file; null when there is none, or none that this version understands. */
export function readStackFile(dataDir: string): StackFile | null {
  try {
    return stackFile.parse(JSON.parse(readFileSync(stackFilePath(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Replaces the stack file in one step. */
export function writeStackFile(dataDir: string, file: StackFile): void {
  const path = stackFilePath(dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The file with every process that has ended taken out. */
export function withoutDeadParts(file: StackFile): StackFile {
  return {
    ...file,
    postgres: file.postgres && { ...file.postgres, process: alive(file.postgres.process) },
    temporal: file.temporal && { ...file.temporal, process: alive(file.temporal.process) },
    worker: file.worker && { ...file.worker, process: alive(file.worker.process) },
  };
}

/** The path of the stack file. */
export function stackFilePath(dataDir: string): string {
  return join(dataDir, 'stack.json');
}

function alive<T extends z.infer<typeof processIdentity> | null>(identity: T): T | null {
  return isAlive(identity) ? identity : null;
}
