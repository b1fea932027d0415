import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs of this host that the environment works with. */
export type SandboxPrograms = {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly setpriv: string;
};

export type EnterRequest = {
  readonly programs: SandboxPrograms;
  /** Process 1 of the sandbox, as this host numbers it. */
  readonly initPid: number;
  /** Null when this worker is not root: commands run as its own user, who owns the namespaces. */
  readonly userId: number | null;
  /** Whether the command gets the sandbox's own network or this host's. */
  readonly ownNetwork: boolean;
  /** Files of control groups that the command joins. */
  readonly joinFiles: readonly string[];
  /** Memory of one process, where there are no control groups; null = no limit. */
  readonly processMemoryBytes: number | null;
  readonly variables: { readonly [name: string]: string };
  readonly cwd: string;
  readonly argv: readonly string[];
};

const CHANGE_DIRECTORY = 'cd -- "$1" || exit 126; shift; exec "$@"';
const JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 126; shift; done; shift; exec "$@"';

/** The argument list that runs a command inside a sandbox, without rights and unable to gain any. */
export function toEnterArguments(request: EnterRequest): readonly string[] {
  const { programs, userId, joinFiles, processMemoryBytes } = request;
  const joining = joinFiles.length === 0 ? [] : ['/bin/sh', '-c', JOIN, 'assay', ...joinFiles, '--'];
  const limit =
    processMemoryBytes === null
      ? []
      : [
          '/bin/sh',
          '-c',
          'ulimit -v "$1" && shift && exec "$@"',
          'assay',
          String(Math.floor(processMemoryBytes / 1024)),
        ];
  const user =
    userId === null
      ? ['--user', '--preserve-credentials']
      : ['--setuid', String(userId), '--setgid', String(userId)];
  return [
    ...joining,
    ...limit,
    programs.setpriv,
    '--no-new-privs',
    programs.nsenter,
    '--target',
    String(request.initPid),
    ...user,
    '--mount',
    '--pid',
    '--uts',
    '--ipc',
    ...(request.ownNetwork ? ['--net'] : []),
    '--',
    '/bin/sh',
    '-c',
    CHANGE_DIRECTORY,
    'assay',
    request.cwd,
    // Here and not before: a variable such as LD_PRELOAD must not reach the programs above.
    'env',
    '-i',
    ...Object.entries(request.variables).map(([name, value]) => `${name}=${value}`),
    ...request.argv,
  ];
}

/** Absolute path of a program of this host, or null. */
export function findProgram(name: string, path: string): string | null {
  for (const directory of [...path.split(delimiter), '/usr/sbin', '/sbin', '/usr/bin', '/bin']) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not there: the next one.
    }
  }
  return null;
}
