import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { WorkerOptions } from '@temporalio/worker';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  ExecRequest,
} from '../../src/environments/environment.ts';

/** What is made of one call: it fails, or it is held until its activity is cancelled. */
export type Trouble = {
  readonly kind: 'fail' | 'hold';
  readonly line: string;
  readonly times: number;
  /** The model does it by its script. */
  readonly byModel: boolean;
};

/** `<run>/<task>` */
type CellName = string;
type Cell = { readonly lines: string[]; met: number; sessionId: string | null; serverIsUp: boolean };

/**
 * Records the order of calls of every attempt: which activity, and what it asks of a real environment and of its tool
 * server. Makes the calls fail or wait that it is told to.
 */
export class CallLog {
  /** Where servers of tools are written down. */
  dataDir = '';
  /** Attempts that are held. */
  readonly parked = new Set<CellName>();
  readonly providers: EnvironmentProvider[] = [];
  private readonly marks: string;
  private readonly troubleOf: (runId: string, task: number) => Trouble | null;
  private readonly cells = new Map<CellName, Cell>();
  private released = Promise.withResolvers<void>();

  constructor(marks: string, troubleOf: (runId: string, task: number) => Trouble | null) {
    this.marks = marks;
    this.troubleOf = troubleOf;
  }

  linesOf(runId: string, task: number): readonly string[] {
    const name = `${runId}/${task}`;
    this.watchServer(name);
    return withoutWaits(this.find(name).lines);
  }

  /** How many attempts of a run are to be held, and how many of them at steps with a short time-out. */
  readonly expected = new Map<string, { readonly held: number; readonly short: number }>();

  isHeld(runId: string, but: 'none' | 'short' = 'none'): boolean {
    const { held, short } = this.expected.get(runId) ?? { held: 0, short: 0 };
    const parked = [...this.parked].filter((name) => name.startsWith(`${runId}/`)).length;
    return parked >= (but === 'short' ? held - short : held);
  }

  /** Lets go what no cancel reaches: the close of a session, and the record. */
  release(): void {
    this.released.resolve();
    this.released = Promise.withResolvers();
  }

  readonly wrapEnvironment = (provider: EnvironmentProvider): EnvironmentProvider => {
    if (provider.kind !== 'bubblewrap') return provider;
    this.providers.push(provider);
    return {
      ...provider,
      open: async ({ sessionId, ...rest }) => {
        const open = () => provider.open({ sessionId, ...rest });
        return this.wrapSession(await this.note(sessionId, `open ${rest.network?.mode}`, open));
      },
      attach: async (handle) => {
        const session = await provider.attach(handle);
        return session === null ? null : this.wrapSession(session);
      },
      close: (handle) => this.note(handle.sessionId, 'close', () => provider.close(handle)),
    };
  };

  readonly interceptors: WorkerOptions['interceptors'] = {
    activity: [
      ({ info }) => ({
        inbound: {
          execute: async (input, next) => {
            const name = findCell(input.args[0]);
            if (name === null) return await next(input);
            return await this.meet(name, info.activityType, () => next(input));
          },
        },
      }),
    ],
  };

  private wrapSession(session: EnvironmentSession): EnvironmentSession {
    const { sessionId } = session.handle;
    return new Proxy(session, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'listen') this.watchProxy(sessionId, args[0] as Server);
          return this.note(
            sessionId,
            describe(String(name), args),
            () => value.apply(target, args) as Promise<unknown>,
          );
        };
      },
    });
  }

  private async note<T>(sessionId: string, what: string, call: () => Promise<T>): Promise<T> {
    const name = toCellName(sessionId);
    this.find(name).sessionId ??= sessionId;
    this.watchServer(name);
    // A server of tools starts after setup, in a process of its own.
    const trouble = this.findTrouble(name);
    if (trouble?.line === 'task server' && what === 'exec setup')
      await this.troubleServer(name, sessionId, trouble);
    const where = sessionId.includes('/eval-') ? 'evaluation' : 'task';
    return await this.meet(name, `  ${where} ${what}`, call);
  }

  private async meet<T>(name: CellName, line: string, call: () => Promise<T>): Promise<T> {
    const cell = this.find(name);
    this.watchServer(name);
    const trouble = this.findTrouble(name);
    const isBeforeRecord = trouble?.line === RECORD && line === 'closeSession' && cell.met === 0;
    if (isBeforeRecord && trouble.kind === 'hold') await this.othersHeld(name);
    const isMet = trouble !== null && line.trim().startsWith(trouble.line);
    // A local activity that is held for long is sent once more.
    if (isMet && trouble.kind === 'hold' && cell.met > 0 && trouble.line === RECORD) return await call();
    cell.lines.push(line);
    if (!isMet) return await call();
    cell.met += 1;
    if (cell.met > trouble.times) return await call();
    const indent = line.replace(/\S.*/, '');
    cell.lines.push(`${indent}  ^ ${trouble.kind === 'fail' ? 'fails' : 'is cancelled here'}`);
    if (trouble.kind === 'fail') throw new Error(`injected at ${trouble.line}`);
    if (trouble.byModel) this.parked.add(name);
    else await this.hold(name);
    return await call();
  }

  /** Before a step that has a short time-out of its own. */
  private async othersHeld(name: CellName): Promise<void> {
    const [runId = ''] = name.split('/');
    while (!this.isHeld(runId, 'short')) {
      // Else it is sent once more, where the others take long.
      Context.current().heartbeat();
      await sleep(50);
    }
  }

  private async hold(name: CellName): Promise<void> {
    const context = Context.current();
    const { cancelled, info } = context;
    const heartbeat = (): void => context.heartbeat();
    this.parked.add(name);
    const isShielded = info.activityType === 'closeSession' || info.activityType === RECORD;
    const lives = setInterval(() => info.activityType === 'closeSession' && heartbeat(), 1_000);
    await (isShielded ? this.released.promise : cancelled.catch(() => undefined));
    clearInterval(lives);
  }

  private async troubleServer(name: CellName, sessionId: string, { kind }: Trouble): Promise<void> {
    const server = toServerName(sessionId);
    this.find(name).lines.push(`  task server ^ ${kind === 'fail' ? 'fails' : 'is cancelled here'}`);
    if (kind === 'hold') await this.othersHeld(name);
    writeFileSync(join(this.marks, `${kind}-${server}`), '');
    if (kind === 'hold') void this.holdServer(name, server);
  }

  private async holdServer(name: CellName, server: string): Promise<void> {
    while (!existsSync(join(this.marks, `held-${server}`))) await sleep(20);
    await this.hold(name);
    rmSync(join(this.marks, `hold-${server}`));
  }

  private findTrouble(name: CellName): Trouble | null {
    const [runId = '', task] = name.split('/');
    return this.troubleOf(runId, Number(task));
  }

  private watchProxy(sessionId: string, server: Server): void {
    const { lines } = this.find(toCellName(sessionId));
    server.once('close', () => lines.push('  its model is served no more'));
  }

  /** A server is there as long as its folder is. */
  private watchServer(name: CellName): void {
    const cell = this.find(name);
    if (cell.sessionId === null) return;
    const isUp = existsSync(join(this.dataDir, 'mcp', toServerName(cell.sessionId)));
    if (isUp === cell.serverIsUp) return;
    cell.serverIsUp = isUp;
    cell.lines.push(`  task server ${isUp ? 'is up' : 'has ended'}`);
  }

  private find(name: CellName): Cell {
    const cell = this.cells.get(name) ?? { lines: [], met: 0, sessionId: null, serverIsUp: false };
    this.cells.set(name, cell);
    return cell;
  }
}

const COMES_BACK = ['runAgent', '  task serve its model', '  its model is served no more', 'runAgent'];

/** Without the agents that came back, having done nothing, while another one found out whether its program runs. */
function withoutWaits(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((_, index) => COMES_BACK.every((line, rest) => lines[index + rest] === line));
  return at < 0 ? lines : withoutWaits(lines.toSpliced(at, COMES_BACK.length - 1));
}

const toServerName = (sessionId: string): string =>
  createHash('sha256').update(`${sessionId}\nquiet`).digest('hex').slice(0, 32);

const RECORD = 'gradeAndRecord';

/** Ids of sessions begin with the run and the task. */
const toCellName = (sessionId: string): CellName => sessionId.split('/').slice(0, 2).join('/');

type AboutCell = {
  readonly cell?: { readonly runId: string; readonly task?: number };
  readonly records?: readonly AboutCell[];
  readonly session?: { readonly sessionId: string };
  readonly sessionId?: string;
};

/** The attempt that an activity is about; null = it is about none. */
function findCell(input: unknown): CellName | null {
  const about = (input ?? {}) as AboutCell;
  const sessionId = about.sessionId ?? about.session?.sessionId;
  if (sessionId !== undefined) return toCellName(sessionId);
  const cell = about.cell ?? about.records?.[0]?.cell;
  return cell?.task === undefined ? null : `${cell.runId}/${cell.task}`;
}

function describe(name: string, args: readonly unknown[]): string {
  const [first] = args;
  switch (name) {
    case 'exec':
      return `exec ${/: (setup|agent|grader)/.exec(JSON.stringify((first as ExecRequest).command))?.[1]}`;
    case 'setNetwork':
      return `network ${(first as { mode: string }).mode}`;
    case 'writeFile':
      return `write ${String(first)}`;
    case 'listen':
      return 'serve its model';
    case 'findFiles':
      return 'find files';
    case 'endProcesses':
      return 'end processes';
    case 'openGraderFolder':
      return "open the grader's folder";
    default:
      return `${name} ${String(first)}`;
  }
}
