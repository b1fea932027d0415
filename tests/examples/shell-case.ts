import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** One answer of a scripted model. */
export type Step = {
  readonly say?: string;
  readonly tools?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, string>> }[];
};

export type CommandScorer = {
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
  readonly report?: string;
};

/** A case of a suite file as written, graded by one command. */
export type ShellCase = {
  readonly id: string;
  readonly files?: Readonly<Record<string, string | { readonly path: string }>>;
  readonly setup?: string;
  readonly scorers: readonly [CommandScorer];
};

export type Grade = { readonly pass: boolean; readonly score: number; readonly output: string };

type Place = { readonly root: string; readonly work: string; readonly grader: string };

/**
 * Plays a script in a new folder that holds the case's files, then grades a copy of the folder.
 * Needs nothing of Assay: plain bash and files, with the small environment that a host session has.
 */
export async function gradeScript(
  suiteFolder: string,
  testCase: ShellCase,
  steps: readonly Step[],
): Promise<Grade> {
  const root = await mkdtemp(join(tmpdir(), 'assay-quickstart-'));
  try {
    const place = { root, work: join(root, 'work'), grader: join(root, 'grader') };
    await prepareCase(place, suiteFolder, testCase);
    for (const step of steps) {
      for (const call of step.tools ?? []) await playCall(place, call.name, call.arguments);
    }
    await writeScorerFiles(place, suiteFolder, testCase.scorers[0]);
    return await grade(place, testCase.scorers[0], steps.at(-1)?.say ?? '');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function prepareCase(place: Place, suiteFolder: string, testCase: ShellCase): Promise<void> {
  for (const folder of [place.work, place.grader, join(place.root, 'tmp')]) await mkdir(folder);
  for (const [path, content] of Object.entries(testCase.files ?? {})) {
    const target = join(place.work, path);
    await mkdir(dirname(target), { recursive: true });
    const bytes = typeof content === 'string' ? content : await readFile(join(suiteFolder, content.path));
    await writeFile(target, bytes);
  }
  if (testCase.setup === undefined) return;
  const setup = await runBash(place.work, testCase.setup, environmentOf(place, place.work));
  if (setup.exitCode !== 0) throw new Error(`setup of ${testCase.id} failed: ${setup.output}`);
}

async function playCall(place: Place, name: string, args: Readonly<Record<string, string>>): Promise<void> {
  const path = join(place.work, args['path'] ?? '.');
  switch (name) {
    case 'bash':
      await runBash(place.work, args['command'] ?? '', environmentOf(place, place.work));
      return;
    case 'read_file':
      await readFile(path);
      return;
    case 'list_files':
      await readdir(path);
      return;
    case 'write_file':
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, args['content'] ?? '');
      return;
    default:
      throw new Error(`the script calls an unknown tool: ${name}`);
  }
}

async function writeScorerFiles(place: Place, suiteFolder: string, scorer: CommandScorer): Promise<void> {
  for (const [path, source] of Object.entries(scorer.files)) {
    await writeFile(join(place.grader, path), await readFile(join(suiteFolder, source)));
  }
}

async function grade(place: Place, scorer: CommandScorer, answer: string): Promise<Grade> {
  const copy = join(place.root, 'copy');
  const answerFile = join(place.root, 'answer.txt');
  await cp(place.work, copy, { recursive: true, preserveTimestamps: true });
  await writeFile(answerFile, answer);
  const { exitCode, output } = await runBash(copy, scorer.command, {
    ...environmentOf(place, copy),
    ASSAY_GRADER: place.grader,
    ASSAY_ANSWER: answerFile,
  });
  const score = scorer.report === undefined ? Number(exitCode === 0) : await readScore(place, scorer.report);
  return { pass: exitCode === 0, score, output };
}

async function readScore(place: Place, report: string): Promise<number> {
  const parsed = JSON.parse(await readFile(join(place.grader, report), 'utf8')) as { readonly score: number };
  return parsed.score;
}

const environmentOf = (place: Place, home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  TMPDIR: join(place.root, 'tmp'),
  LANG: 'C.UTF-8',
  TERM: 'dumb',
});

function runBash(
  cwd: string,
  command: string,
  env: Record<string, string>,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      'bash',
      ['-c', command],
      { cwd, env, timeout: 20_000 },
      (_error, stdout, stderr) => {
        resolve({ exitCode: child.exitCode, output: `${stdout}${stderr}` });
      },
    );
    child.stdin?.end();
  });
}
