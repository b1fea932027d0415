import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the contract's commands use. */
const PROGRAMS =
  'sh bash cat ls mkdir mkfifo touch head tail stat readlink chmod rm cp ln sleep printf env id tr grep wc find setsid kill truncate getent seq tar mv du timeout sed';

/** A small root file system of this machine's own programs and their libraries: about 15 MB. */
export function makeRootFilesystem(directory: string): void {
  for (const name of ['bin', 'tmp', 'proc', 'dev', 'etc'])
    mkdirSync(join(directory, name), { recursive: true });
  chmodSync(join(directory, 'tmp'), 0o1777);
  chmodSync(directory, 0o755);
  writeFileSync(join(directory, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\n');
  for (const name of PROGRAMS.split(' ')) {
    const place = ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (place === undefined) continue;
    const real = realpathSync(place);
    copyFileSync(real, join(directory, 'bin', name));
    for (const library of listLibraries(real)) {
      mkdirSync(join(directory, dirname(library)), { recursive: true });
      copyFileSync(library, join(directory, library));
    }
  }
}

/** What a program is linked with. */
export function listLibraries(program: string): readonly string[] {
  try {
    return (
      execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).match(
        /\/\S+/g,
      ) ?? []
    );
  } catch {
    // A script, or linked statically.
    return [];
  }
}
