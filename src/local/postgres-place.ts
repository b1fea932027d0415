import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { canReach } from './postgres-account.ts';
import type { Account } from './postgres-account.ts';
import { postgresMajor } from './postgres-binaries.ts';
import { StackError } from './stack-error.ts';
import { ownedSystemFolder } from './system-folder.ts';

/** Where the cluster lies, kept in `postgres.json` beside the other files of the stack. */
const placeRecord = z.object({
  layout: z.number(),
  /** Relative to the data folder when it lies in it. */
  folder: z.string(),
  /** The data folder that this record was made for: a copied project must not share the cluster. */
  dataDir: z.string(),
});

type PlaceRecord = z.infer<typeof placeRecord>;

/** Changes when files in the data folder move or change their meaning. */
const dataLayout = 1;

/**
 * The folder of the Postgres cluster, made and owned by the account when new. In the data folder where the account
 * can get there, else (a project under /root) in a system folder, which `postgres.json` names.
 * Throws a StackError for a folder of another layout or another major version of Postgres.
 */
export function findClusterFolder(dataDir: string, account: Account | null): string {
  const recordFile = join(dataDir, 'postgres.json');
  const record = existsSync(recordFile) ? readRecord(recordFile, dataDir) : null;
  const folder = record === null ? newFolder(dataDir, account) : absoluteFolder(record, dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(folder, account.uid, account.gid);
  assertSameMajor(folder);
  if (record?.dataDir !== dataDir) writeRecord(recordFile, { dataDir, folder });
  return folder;
}

function newFolder(dataDir: string, account: Account | null): string {
  if (account !== null) chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const inside = join(dataDir, 'postgres');
  if (canReachInside(dataDir, account)) return inside;
  const key = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const outside = join(ownedSystemFolder(), `postgres-data-${key}`);
  // Without a record the user has removed the data folder. Its cluster is set aside once, not mixed with the new one.
  if (existsSync(join(outside, 'PG_VERSION'))) {
    rmSync(`${outside}.previous`, { recursive: true, force: true });
    renameSync(outside, `${outside}.previous`);
  }
  return outside;
}

function canReachInside(dataDir: string, account: Account | null): boolean {
  if (account === null) return true;
  const probe = join(dataDir, `.reach-${process.pid}`);
  mkdirSync(probe, { recursive: true, mode: 0o700 });
  chownSync(probe, account.uid, account.gid);
  try {
    return canReach(account, probe);
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}

function absoluteFolder(record: PlaceRecord, dataDir: string): string {
  if (!isAbsolute(record.folder)) return join(dataDir, record.folder);
  if (record.dataDir !== dataDir && existsSync(join(record.dataDir, 'postgres.json'))) {
    throw new StackError(
      `The folder ${dataDir} is a copy of ${record.dataDir}, and its database lies in ${record.folder}, which belongs to the original. ` +
        `Remove ${dataDir} to start empty, or set DATABASE_URL.`,
    );
  }
  return record.folder;
}

function readRecord(recordFile: string, dataDir: string): PlaceRecord {
  const record = parseRecord(readFileSync(recordFile, 'utf8'));
  if (record?.layout === dataLayout) return record;
  throw new StackError(
    `The data folder ${dataDir} has layout ${record?.layout ?? 'unknown'}, this version of Assay reads layout ${dataLayout}. ` +
      'Use the version of Assay that made it, or move the folder away to start with an empty one.',
  );
}

function parseRecord(text: string): PlaceRecord | null {
  try {
    return placeRecord.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function writeRecord(recordFile: string, { dataDir, folder }: { dataDir: string; folder: string }): void {
  const inside = folder === join(dataDir, 'postgres');
  const record: PlaceRecord = {
    layout: dataLayout,
    folder: inside ? 'postgres' : folder,
    dataDir,
  };
  writeFileSync(`${recordFile}.new`, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(`${recordFile}.new`, recordFile);
}

function assertSameMajor(folder: string): void {
  const versionFile = join(folder, 'PG_VERSION');
  if (!existsSync(versionFile)) return;
  const found = readFileSync(versionFile, 'utf8').trim();
  if (found === String(postgresMajor)) return;
  throw new StackError(
    `The database folder ${folder} was made by Postgres ${found}, this version of Assay runs Postgres ${postgresMajor}. ` +
      `Use the version of Assay that made it, or move the folder away to start with an empty one, or set DATABASE_URL.`,
  );
}
