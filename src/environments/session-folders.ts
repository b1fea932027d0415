import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { OpenRequest, SessionHandle } from './environment.ts';
import { OutputPipes } from './output-pipe.ts';
import { readBootId } from './process-table.ts';
import { removeStubborn, removeTree } from './session-tree.ts';

export type FolderOptions = {
  /** Directory that holds the sessions; made when missing. */
  readonly root: string;
  /** Stable across restarts of the worker on this machine. */
  readonly hostId: string;
  /** Sessions of other installations in the same directory are left alone. */
  readonly installationId: string;
};

export type SessionRecord = {
  readonly format: 1;
  readonly handle: SessionHandle;
  readonly installationId: string;
  readonly bootId: string;
  readonly request: OpenRequest;
  readonly openedAt: string;
};

const LEFTOVER_AGE_MS = 600_000;
const RECORD = 'session.json';
const PIPES = '.pipes';

/** Directories of a session, below its root. */
export const SESSION_DIRECTORIES = ['work', 'tmp', 'grader'] as const;

/**
 * The sessions of one kind as directories of this machine: `<root>/<hash of the id>` with `work` for the
 * agent, and the record, temporary files and graders' files beside it.
 */
export class SessionFolders {
  readonly kind: string;
  readonly root: string;
  readonly pipes: OutputPipes;
  readonly #options: FolderOptions;

  constructor(kind: string, options: FolderOptions) {
    this.kind = kind;
    this.root = resolve(options.root);
    this.pipes = new OutputPipes(join(this.root, PIPES));
    this.#options = options;
  }

  /** The directory is computed, not read: the sessions folder may have been moved. */
  toHandle(sessionId: string): SessionHandle {
    const { hostId } = this.#options;
    return { sessionId, kind: this.kind, hostId, root: join(this.root, toName(sessionId)) };
  }

  /** Whether a handle can be one of these sessions. */
  knows(handle: SessionHandle): boolean {
    return handle.kind === this.kind && handle.hostId === this.#options.hostId;
  }

  /** Null when there is no such session. */
  async find(sessionId: string): Promise<SessionRecord | null> {
    const record = await loadRecord(this.toHandle(sessionId).root);
    return record === null || record.handle.sessionId !== sessionId ? null : record;
  }

  /** Made under another name and renamed: a session is there with its record or not at all. */
  async create(request: OpenRequest): Promise<SessionRecord> {
    const record: SessionRecord = {
      format: 1,
      handle: this.toHandle(request.sessionId),
      installationId: this.#options.installationId,
      bootId: readBootId(),
      request,
      openedAt: new Date().toISOString(),
    };
    const making = join(this.root, `.opening-${toName(request.sessionId)}-${randomUUID()}`);
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await mkdir(making, { mode: 0o700 });
    try {
      for (const name of SESSION_DIRECTORIES) await mkdir(join(making, name), { mode: 0o700 });
      await writeFile(join(making, RECORD), JSON.stringify(record), { mode: 0o600 });
      await rename(making, record.handle.root);
      return record;
    } catch (error) {
      await rm(making, { recursive: true, force: true });
      // Another open of the same session was faster.
      const other = await this.find(request.sessionId);
      if (other === null) throw error;
      return other;
    }
  }

  /** Removes the directory and what a killed open or close of it left. Its processes have ended. */
  async remove(sessionId: string): Promise<void> {
    const name = toName(sessionId);
    await removeTree(this.toHandle(sessionId).root, join(this.root, `.closing-${name}-${randomUUID()}`));
    for (const entry of await this.#listNames()) {
      if (entry.startsWith(`.opening-${name}-`) || entry.startsWith(`.closing-${name}-`)) {
        await removeStubborn(join(this.root, entry));
      }
    }
  }

  async list(): Promise<readonly SessionHandle[]> {
    const names = (await this.#listNames()).filter((name) => !name.startsWith('.'));
    const records = await Promise.all(names.map((name) => loadRecord(join(this.root, name))));
    return records
      .filter((record) => record !== null)
      .filter((record) => record.installationId === this.#options.installationId && this.knows(record.handle))
      .map((record) => this.toHandle(record.handle.sessionId));
  }

  /** Removes what was cut off while it was made or removed, or lost its record, after ten minutes. */
  async removeLeftovers(): Promise<void> {
    // A worker that was killed leaves the pipes that it had not used yet.
    const pipes = await readdir(join(this.root, PIPES)).catch(() => []);
    const sessions = (await this.#listNames()).filter((name) => this.#isLeftover(name));
    for (const name of [...pipes.map((pipe) => join(PIPES, pipe)), ...sessions]) {
      const path = join(this.root, name);
      const state = await stat(path).catch(() => null);
      if (state !== null && Date.now() - state.mtimeMs > LEFTOVER_AGE_MS) await removeStubborn(path);
    }
  }

  #isLeftover(name: string): boolean {
    if (/^\.(opening|closing)-/.test(name)) return true;
    // A session whose commands deleted its record can be attached to by nobody.
    return /^[0-9a-f]{24}$/.test(name) && !existsSync(join(this.root, name, RECORD));
  }

  #listNames(): Promise<readonly string[]> {
    return readdir(this.root).catch(() => []);
  }
}

/** A name for directories, control groups and containers: the hash of a session's id. */
export const toName = (sessionId: string): string =>
  createHash('sha256').update(sessionId).digest('hex').slice(0, 24);

/** Told to every command of a session, and to no other session's, also of another installation. */
export const toMark = ({ root, sessionId }: SessionHandle): string => toName(`${root}\n${sessionId}`);

/** Null when there is no session, or its record was destroyed. */
async function loadRecord(root: string): Promise<SessionRecord | null> {
  try {
    const record = JSON.parse(await readFile(join(root, RECORD), 'utf8')) as Partial<SessionRecord> | null;
    if (record?.format !== 1 || record.handle === undefined || record.request === undefined) return null;
    return record as SessionRecord;
  } catch {
    return null;
  }
}
