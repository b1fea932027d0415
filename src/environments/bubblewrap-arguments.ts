import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SANDBOX_WORK } from './sandbox-session.ts';

export type BubblewrapPlace = {
  /** Root directory that the session's files start from; null = the system directories of this host. */
  readonly rootDirectory: string | null;
  /** Directories of the session that become `/work` and `/tmp`. */
  readonly work: string;
  readonly temporary: string;
  /** A file of accounts in which the agent's user is. */
  readonly accounts: string;
  /** With a limit `/work` and `/tmp` are memory of this size each and live as long as the sandbox. */
  readonly diskBytes: number | null;
  /** As another user than root everything needs a user namespace. */
  readonly isRoot: boolean;
};

/** Of this host only its programs and their settings: no homes, no data, no sockets. */
const SYSTEM = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'etc', 'opt', 'nix'];
/** Made anew in each sandbox. */
const OWN = new Set(['proc', 'dev', 'run', 'tmp', 'sys', SANDBOX_WORK.slice(1)]);
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'];

/** Process 1 of a sandbox: collects orphans, cannot be killed from inside, and says when it is there. */
export const SANDBOX_INIT = [
  '/bin/sh',
  '-c',
  'echo ready; exec > /dev/null 2>&1; while :; do sleep 1000000 & wait "$!"; done',
];

/** Arguments of `bwrap` for one sandbox. */
export function toBubblewrapArguments(place: BubblewrapPlace): readonly string[] {
  return [
    // With files in memory the sandbox outlives its worker, for the next one to find them.
    ...(place.diskBytes === null ? ['--die-with-parent'] : []),
    '--as-pid-1',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
    '--unshare-cgroup-try',
    ...(place.isRoot ? [] : ['--unshare-user']),
    '--hostname',
    'sandbox',
    '--tmpfs',
    '/',
    ...toSystem(place),
    '--proc',
    '/proc',
    ...toDevices(place),
    '--perms',
    '0755',
    '--tmpfs',
    '/run',
    ...toResolver(place),
    ...toOwnDirectories(place),
    '--remount-ro',
    '/',
    '--chdir',
    SANDBOX_WORK,
  ];
}

function toSystem({ rootDirectory, accounts }: BubblewrapPlace): readonly string[] {
  const root = rootDirectory ?? '/';
  const names =
    rootDirectory === null ? SYSTEM.filter((name) => existsSync(join(root, name))) : readdirSync(root);
  const binds = names
    .filter((name) => !OWN.has(name))
    .flatMap((name) => {
      const path = join(root, name);
      if (lstatSync(path).isSymbolicLink()) return ['--symlink', readlinkSync(path), `/${name}`];
      return ['--ro-bind', path, `/${name}`];
    });
  const own = rootDirectory === null ? ['--dir', '/var', '--symlink', '/tmp', '/var/tmp'] : [];
  const passwd = existsSync(join(root, 'etc/passwd')) ? ['--ro-bind', accounts, '/etc/passwd'] : [];
  return [...binds, ...own, ...passwd];
}

const toSize = ({ diskBytes }: BubblewrapPlace): readonly string[] =>
  diskBytes === null ? [] : ['--size', String(diskBytes)];

function toDevices(place: BubblewrapPlace): readonly string[] {
  return [
    '--perms',
    '0755',
    '--tmpfs',
    '/dev',
    ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
    '--symlink',
    '/proc/self/fd',
    '/dev/fd',
    '--symlink',
    '/proc/self/fd/0',
    '/dev/stdin',
    '--symlink',
    '/proc/self/fd/1',
    '/dev/stdout',
    '--symlink',
    '/proc/self/fd/2',
    '/dev/stderr',
    '--perms',
    '1777',
    ...toSize(place),
    '--tmpfs',
    '/dev/shm',
    '--remount-ro',
    '/dev',
  ];
}

/** Where the host's settings of names point into `/run`, that one file is shown. */
function toResolver({ rootDirectory }: BubblewrapPlace): readonly string[] {
  if (rootDirectory !== null || !existsSync('/etc/resolv.conf')) return [];
  const real = realpathSync('/etc/resolv.conf');
  return real.startsWith('/run/') ? ['--ro-bind', real, real] : [];
}

function toOwnDirectories(place: BubblewrapPlace): readonly string[] {
  if (place.diskBytes === null) {
    return ['--bind', place.work, SANDBOX_WORK, '--bind', place.temporary, '/tmp'];
  }
  const size = toSize(place);
  return ['--perms', '0777', ...size, '--tmpfs', SANDBOX_WORK, '--perms', '1777', ...size, '--tmpfs', '/tmp'];
}
