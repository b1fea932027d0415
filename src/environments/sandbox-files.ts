import { posix } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SessionFileError, SessionLostError } from './environment.ts';
import type { FoundFile } from './environment.ts';
import { MAX_FOUND_FILES, MAX_READ_BYTES, tooBig } from './session-paths.ts';

/** A program that runs inside a sandbox; its output is read as fast as the reader takes it. */
export type SandboxStream = {
  readonly stdout: Readable;
  /** Settles after the last byte of `stdout`. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly errorText: string }>;
};

export type StartStream = (
  argv: readonly string[],
  stdin: AsyncIterable<Uint8Array> | null,
) => Promise<SandboxStream>;

/** How the scripts below say what is wrong with a path. */
const CODES = {
  gone: 60,
  missing: 61,
  outside: 62,
  directory: 63,
  special: 64,
  big: 65,
  denied: 66,
  part: 67,
};

/** $1 is the directory, $2 the absolute path; afterwards $p is the real path of what is there. */
const RESOLVE = `
w=$(readlink -f -- "$1") && [ -d "$w" ] || exit ${CODES.gone}
[ -e "$2" ] || exit ${CODES.missing}
p=$(readlink -f -- "$2") || exit ${CODES.missing}
case "$p/" in "$w/"*) ;; *) exit ${CODES.outside};; esac`;

const REGULAR = `${RESOLVE}
[ -d "$p" ] && exit ${CODES.directory}
[ -f "$p" ] || exit ${CODES.special}
[ -r "$p" ] || exit ${CODES.denied}`;

const DOWNLOAD = `${REGULAR}
exec cat -- "$p"`;

const READ = `${REGULAR}
s=$(wc -c < "$p")
[ "$s" -gt ${MAX_READ_BYTES} ] && { echo "$s" >&2; exit ${CODES.big}; }
exec cat -- "$p"`;

const DIRECTORY = `${RESOLVE}
[ -d "$p" ] || exit ${CODES.part}
cd -- "$p" || exit ${CODES.denied}`;

const LIST = `${DIRECTORY}
for n in * .[!.]* ..?*; do
  [ -e "$n" ] || [ -L "$n" ] || continue
  if [ -d "$n" ] && [ ! -L "$n" ]; then printf '%s/\\0' "$n"; else printf '%s\\0' "$n"; fi
done`;

const FIND = `${DIRECTORY}
find . -type f -exec stat -c '%s %n' {} + 2>/dev/null | head -n ${MAX_FOUND_FILES}`;

/** The nearest directory above that exists must be inside; what is missing below it is made. */
const WRITE = `
w=$(readlink -f -- "$1") && [ -d "$w" ] || exit ${CODES.gone}
a=$2
while [ ! -e "$a" ] && [ ! -L "$a" ]; do a=\${a%/*}; done
[ -e "$a" ] || exit ${CODES.missing}
r=$(readlink -f -- "$a") || exit ${CODES.missing}
case "$r/" in "$w/"*) ;; *) exit ${CODES.outside};; esac
if [ "$a" = "$2" ]; then
  [ -d "$r" ] && exit ${CODES.directory}
  [ -f "$r" ] || exit ${CODES.special}
elif [ ! -d "$r" ]; then exit ${CODES.part}; fi
t=$r\${2#"$a"}
mkdir -p -- "\${t%/*}" 2>/dev/null || exit ${CODES.denied}
( : > "$t" ) 2>/dev/null || exit ${CODES.denied}
[ -n "$3" ] && chmod "$3" "$t"
exec cat > "$t"`;

/**
 * Files below one directory of a sandbox, reached by programs that run inside it with the rights of its
 * commands: whatever a path or a link says, nothing outside the sandbox can be meant. Needs `sh`, `cat`,
 * `readlink`, `wc`, `find` and `stat` there.
 */
export class SandboxFiles {
  readonly #directory: string;
  readonly #start: StartStream;

  constructor(directory: string, start: StartStream) {
    this.#directory = directory;
    this.#start = start;
  }

  async read(path: string): Promise<Uint8Array> {
    return await buffer((await this.#open(READ, path)).stdout);
  }

  async download(path: string): Promise<Readable> {
    return (await this.#open(DOWNLOAD, path)).stdout;
  }

  async list(path: string): Promise<readonly string[]> {
    const text = (await buffer((await this.#open(LIST, path)).stdout)).toString('utf8');
    return text.split('\0').slice(0, -1).toSorted();
  }

  async find(path: string): Promise<readonly FoundFile[]> {
    const text = (await buffer((await this.#open(FIND, path)).stdout)).toString('utf8');
    const found = text.split('\n').flatMap((line) => {
      const [, bytes, name] = /^(\d+) \.\/(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ path: name, bytes: Number(bytes) }];
    });
    return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async write(path: string, content: AsyncIterable<Uint8Array>, mode = ''): Promise<void> {
    if (path === '' || path.endsWith('/')) throw new SessionFileError(`"${path}" does not name a file.`);
    const argv = this.#toArgv(WRITE, path, mode);
    const { stdout, ended } = await this.#start(argv, content);
    stdout.resume();
    const { exitCode, errorText } = await ended;
    if (exitCode !== 0) throw toError({ path, exitCode, errorText });
  }

  /** Waits for the first byte or the end, so that a refusal is told before anything is read. */
  async #open(script: string, path: string): Promise<SandboxStream> {
    const stream = await this.#start(this.#toArgv(script, path, ''), null);
    const { stdout } = stream;
    const started = new Promise<'data'>((resolve) => stdout.once('readable', () => resolve('data')));
    const first = await Promise.race([started, stream.ended]);
    const end = first === 'data' && stdout.readableLength > 0 ? null : await stream.ended;
    if (end !== null && end.exitCode !== 0) throw toError({ path, ...end });
    if (end !== null) return stream;
    return { ...stream, stdout: failWhenCut(stream, path) };
  }

  #toArgv(script: string, path: string, mode: string): readonly string[] {
    if (path.includes('\0')) throw new SessionFileError('A path may not hold a zero byte.');
    const absolute = posix.resolve(this.#directory, path);
    if (absolute !== this.#directory && !absolute.startsWith(`${this.#directory}/`)) throw outside(path);
    return ['/bin/sh', '-c', script, 'assay', this.#directory, absolute, mode];
  }
}

/** A file that is cut off in the middle, because its session was lost, is an error and not a short file. */
function failWhenCut({ stdout, ended }: SandboxStream, path: string): Readable {
  const through = new PassThrough();
  stdout.on('error', (error) => through.destroy(error)).pipe(through, { end: false });
  void ended.then(({ exitCode, errorText }) => {
    if (exitCode !== 0) through.destroy(toError({ path, exitCode, errorText }));
    else if (stdout.readableEnded) through.end();
    else stdout.once('end', () => through.end());
  });
  return through;
}

const outside = (path: string): SessionFileError =>
  new SessionFileError(`"${path}" is outside the working directory; use a path inside it.`);

function toError(end: {
  readonly path: string;
  readonly exitCode: number | null;
  readonly errorText: string;
}): Error {
  const { path, exitCode, errorText } = end;
  switch (exitCode ?? -1) {
    case CODES.gone:
      return new SessionLostError('The directory of the session is gone.');
    case CODES.missing:
      return new SessionFileError(`"${path}" does not exist.`);
    case CODES.outside:
      return outside(path);
    case CODES.directory:
      return new SessionFileError(`"${path}" is a directory; list it instead.`);
    case CODES.special:
      return new SessionFileError(`"${path}" is not a regular file.`);
    case CODES.big:
      return tooBig(path, Number.parseInt(errorText, 10));
    case CODES.denied:
      return new SessionFileError(`"${path}": permission denied.`);
    case CODES.part:
      return new SessionFileError(`"${path}": a part of the path is not a directory.`);
    default:
      return new SessionFileError(`"${path}": ${errorText.trim() || `exit code ${exitCode ?? 'unknown'}`}`);
  }
}
