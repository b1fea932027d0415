import type { Check } from './check.ts';
import { runDoctor } from './doctor.ts';
import type { DoctorOptions } from './doctor.ts';
import { withoutPassword } from './external-services.ts';
import { ensureStack } from './stack.ts';
import type { StackOptions } from './stack.ts';
import { stackStatus, stopStack } from './stop-stack.ts';

/** What a command prints and how it ends; `data` is the same for `--json`. */
export type CommandResult<T> = {
  readonly lines: readonly string[];
  readonly exitCode: 0 | 1;
  readonly data: T;
};

/** Where the parts of a stack answer; the password of the database is left out. */
export type UpData = {
  readonly database: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
};

/** `assay up`: starts what is missing and says where it answers. Throws a StackError. */
export async function up(options: StackOptions): Promise<CommandResult<UpData>> {
  const stack = await ensureStack(options);
  stack.leave();
  const { databaseUrl, temporalAddress, namespace, uiUrl } = stack;
  const data = { database: withoutPassword(databaseUrl), temporalAddress, namespace, uiUrl };
  const lines = [
    `Postgres     ${data.database}`,
    `Temporal     ${temporalAddress}, namespace "${namespace}"`,
    ...(uiUrl ? [`Temporal UI  ${uiUrl}`] : []),
    `Files        ${options.dataDir}`,
    'It stops by itself after 15 minutes without use. Next: assay run FILE, or assay down',
  ];
  return { lines, exitCode: 0, data };
}

/** The names of the parts that ran. */
export type DownData = { readonly stopped: readonly string[] };

/** `assay down`: stops the parts that run; the worker may finish its calls for up to a minute. */
export async function down(
  dataDir: string,
  note: (message: string) => void = () => undefined,
): Promise<CommandResult<DownData>> {
  const { parts } = stackStatus(dataDir);
  if (parts.some(({ name, process }) => name === 'worker' && process !== null)) {
    note('Stopping; the worker ends its calls first (at most a minute) ...');
  }
  const stopped = await stopStack(dataDir);
  const line = stopped.length > 0 ? `Stopped: ${stopped.join(', ')}.` : `Nothing runs in ${dataDir}.`;
  return { lines: [line], exitCode: 0, data: { stopped } };
}

/** `assay doctor`: one line a check, and what to do about each that is not well (exit code 1, but for warnings). */
export async function doctor(
  options: DoctorOptions,
): Promise<CommandResult<{ readonly checks: readonly Check[] }>> {
  const checks = await runDoctor(options);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, ok, detail, whatToDo }) => [
    `${!ok ? 'FAIL' : whatToDo === null ? 'ok  ' : 'warn'} ${name.padEnd(width)}  ${detail}`,
    ...(whatToDo === null ? [] : [`     ${' '.repeat(width)}  -> ${whatToDo}`]),
  ]);
  return { lines, exitCode: checks.every(({ ok }) => ok) ? 0 : 1, data: { checks } };
}
