import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { StackError } from './stack-error.ts';

/** The system account that Postgres runs under. */
export type Account = { readonly uid: number; readonly gid: number };

/**
 * The account for Postgres, which refuses to run as root: `nobody` for root, null (= this user) for everybody else.
 * No user is added to the machine.
 */
export function postgresAccount(): Account | null {
  return process.getuid?.() === 0 ? nobody() : null;
}

/** Whether the account can read and enter a path; all its parents count. Always true for null (= this user). */
export function canReach(account: Account | null, path: string): boolean {
  if (account === null) return true;
  const { status, error } = spawnSync('/bin/sh', ['-c', 'test -r "$0" && test -x "$0"', path], {
    uid: account.uid,
    gid: account.gid,
    cwd: '/',
    stdio: 'ignore',
  });
  if (error) {
    const why = `this process runs as root but may not start programs as "nobody" (${error.message})`;
    throw new StackError(
      `Postgres refuses to run as root, and ${why}. Run as an ordinary user, or set DATABASE_URL to a Postgres of your own.`,
    );
  }
  return status === 0;
}

function nobody(): Account {
  const fallback = { uid: 65534, gid: 65534 };
  try {
    const line = readFileSync('/etc/passwd', 'utf8').match(/^nobody:[^:]*:(\d+):(\d+):/m);
    return line ? { uid: Number(line[1]), gid: Number(line[2]) } : fallback;
  } catch {
    return fallback;
  }
}
