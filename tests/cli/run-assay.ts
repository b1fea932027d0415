import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../bin/assay', import.meta.url));

export type Ran = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

/** A folder of its own in which `assay` is run as a real process; nothing outside of it is written. */
export type Workplace = {
  readonly folder: string;
  readonly assay: (...args: readonly string[]) => Promise<Ran>;
  /** As `assay`, with variables beside the few that are always there. */
  readonly assayWith: (
    variables: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ) => Promise<Ran>;
  readonly remove: () => void;
};

export function createWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'assay-cli-'));
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|LANG|TMPDIR)$/.test(name));
  const env = { ...Object.fromEntries(kept), XDG_CACHE_HOME: join(folder, 'cache') };
  return {
    folder,
    assay: (...args) => runProcess(args, { cwd: folder, env }),
    assayWith: (variables, ...args) => runProcess(args, { cwd: folder, env: { ...env, ...variables } }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runProcess(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ran> {
  const { promise, resolve, reject } = Promise.withResolvers<Ran>();
  const child = spawn(LAUNCHER, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  child.on('error', reject).on('close', (exitCode) => resolve({ exitCode, ...texts }));
  return promise;
}
