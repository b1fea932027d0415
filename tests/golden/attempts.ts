import { fileURLToPath } from 'node:url';
import type { Json } from '../../src/domain/json.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { TestAssay } from '../support/assay.ts';
import { bash } from '../workflows/support.ts';
import type { CallLog } from './call-log.ts';
import { stepsOf, type Mode, type Step } from './steps.ts';

const SERVER = fileURLToPath(new URL('quiet-server.sh', import.meta.url));
const KEEPS = [false, true] as const;

/** One attempt: whether its sessions are kept, and where something goes wrong. */
export type Golden = { readonly task: number; readonly keep: boolean; readonly step: Step };

/** In the order of the run's tasks, which count from 1. */
export const listAttempts = (mode: Mode): readonly Golden[] =>
  KEEPS.flatMap((keep) => stepsOf(mode, keep).map((step) => ({ keep, step }))).map((one, index) => ({
    task: index + 1,
    ...one,
  }));

const WORK = 'mkdir -p out; printf 42 > out/answer.txt';

/** An external agent of bash alone: works, asks its model, and fails where that does not answer. */
const AGENT = `: agent; ${WORK}
place=\${URL#http://*:} text='{"model":"any","messages":[{"role":"user","content":"Work."}]}'
exec 3<>"/dev/tcp/127.0.0.1/\${place%%/*}"
printf 'POST /v1/chat/completions HTTP/1.0\\r\\nauthorization: Bearer %s\\r\\ncontent-length: %s\\r\\n\\r\\n%s' "$KEY" "\${#text}" "$text" >&3
grep -q '"content":"1"' <&3 && echo 1`;

const COMMAND: Json = {
  kind: 'command',
  command: ['bash', '-c', AGENT],
  proxy: true,
  variables: { URL: '{{openaiUrl}}', KEY: '{{token}}' },
};

/** Two requests, without and with keep, and in each a case for each step. */
export function createGoldenRun(mode: Mode, marks: string, what: 'fail' | 'hold'): Json {
  const broken = { good: [{ say: '1', fault: { status: 400 } }], bad: [] };
  const hanging = { good: [{ say: '1', fault: { kind: 'hang' } }], bad: [] };
  const cases: Json = what === 'fail' ? { model: broken, 'model-and-close': broken } : { model: hanging };
  const good = mode === 'command' ? [{ say: '1' }] : [bash(`: agent; ${WORK}`), { say: '1' }];
  const script = { cases, default: { good, bad: [] } };
  const command = { kind: 'command', command: ': grader; test "$(cat out/answer.txt)" = 42' };
  const server = { name: 'quiet', command: SERVER, variables: { MARKS: marks } };
  return {
    models: [{ id: 'agent', provider: 'mock', model: 'script', params: { script } }],
    requests: KEEPS.map((keep) => ({
      name: toName(keep),
      suite: {
        name: toName(keep),
        scorers: mode === 'none' ? ['exact'] : ['exact', command],
        cases: stepsOf(mode, keep).map(({ id }) => ({
          id,
          input: 'Work.',
          target: '1',
          files: { 'given.txt': 'something' },
          setup: ': setup',
        })),
      },
      harness:
        mode === 'command'
          ? COMMAND
          : { kind: 'agent', maxSteps: 5, ...(mode === 'reuse' ? { mcp: [server] } : {}) },
      environment: {
        kind: 'bubblewrap',
        network: { run: 'none', evaluation: { allow: ['example.invalid'] } },
        ...(keep ? { keep: '1h' } : {}),
      },
      evaluation: mode === 'command' ? 'reuse' : mode,
      artifacts: ['out/**'],
    })),
    execution: { taskConcurrency: what === 'fail' ? 6 : 60, seed: 1 },
  };
}

const toName = (keep: boolean): string => (keep ? 'kept' : 'closed');

/** Id of an attempt's workflow. */
export const toAttemptWorkflowId = (runId: string, { keep, step }: Golden): string =>
  `run/${runId}/${toName(keep)}/agent/${step.id}/a1`;

/** The blocks of one mode, for people to read. */
export async function formatMode(
  assay: TestAssay,
  { runId, log }: { readonly runId: string; readonly log: CallLog },
  mode: Mode,
): Promise<string> {
  const rows = await loadRows(assay, runId);
  const attempts = listAttempts(mode);
  const blocks = stepsOf(mode).map((step) => {
    const [plain = [], kept = []] = KEEPS.map((keep) =>
      attempts
        .filter((one) => one.step === step && one.keep === keep)
        .flatMap(({ task }) => [...log.linesOf(runId, task), ...(rows.get(task) ?? [])]),
    );
    if (kept.length === 0) return [`=== ${step.id} ===`, ...plain, ''];
    const same = JSON.stringify(withoutClose(plain)) === JSON.stringify(kept);
    const keptLines = same
      ? ['kept: the same without the close calls']
      : ['kept:', ...kept.map((line) => `  ${line}`)];
    return [`=== ${step.id} ===`, ...plain, ...keptLines, ''];
  });
  return blocks.flat().join('\n').replaceAll(runId, 'RUN');
}

const withoutClose = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => !/^ {2}(task|evaluation) close/.test(line))
    .map((line) => line.replace(/^(session .*) closed$/, '$1 retained'));

async function loadRows({ db }: TestAssay, runId: string): Promise<ReadonlyMap<number, readonly string[]>> {
  const { rows } = await db.query<{
    task: number;
    place: number;
    line: string | null;
    detail: string | null;
  }>(
    `select task, 1 as place, null as line, detail from attempts where run_id = $1
     union all select task, 2, 'try ' || try_number || ' is discarded: ' || stage || ', ' || error, null
       from tries where run_id = $1
     union all select task, 3, 'warning, ' || phase || ': ' || message, null
       from attempt_warnings where run_id = $1
     union all select task, 4, 'kept file ' || name, null from artifacts where run_id = $1
     union all select task, 5, 'session ' || purpose || ' ' || state, null
       from environment_sessions where run_id = $1 order by task, place, line`,
    [runId],
  );
  const lines = new Map<number, string[]>();
  for (const { task, line, detail } of rows)
    lines.set(task, [...(lines.get(task) ?? []), line ?? describeEnd(detail)]);
  return lines;
}

function describeEnd(detail: string | null): string {
  if (detail === null) return '= nothing is recorded';
  const outcome = JSON.parse(detail) as Outcome;
  if (outcome.kind === 'scored') return `= scored ${outcome.score}`;
  const { code, phase, message } = outcome.reason;
  return `= ${outcome.kind}, ${phase}, ${code}: ${message}`;
}
