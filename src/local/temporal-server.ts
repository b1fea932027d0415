import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import { startPart, waitUntilReady } from './part-process.ts';
import { findFreePort, isPortFree } from './port.ts';
import { endProcess, readIdentityFile } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { StackError } from './stack-error.ts';
import { findTemporalBinary } from './temporal-binary.ts';
import type { BinarySearch } from './temporal-binary.ts';
import { localSettings, retentionDays, searchAttributes } from './temporal-settings.ts';
import type { TemporalSettings } from './temporal-settings.ts';

/** A running Temporal server of the local stack. */
export type RunningTemporal = {
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly uiPort: number;
  /** `host:port` of the front end. */
  readonly temporalAddress: string;
};

/** `ports` are those that it had before, taken again when they are free; null for the first start. */
export type TemporalOptions = BinarySearch & {
  readonly dataDir: string;
  readonly ports: { readonly port: number; readonly uiPort: number } | null;
  /** Only for measurements of other settings. */
  readonly settings?: TemporalSettings;
};

/** The namespace of the local server. */
export const localNamespace = 'default';

/**
 * Starts Temporal's server on loopback ports with its database file in the data folder, and waits until the namespace
 * answers and keeps closed workflows for 30 days. Throws a StackError that says what to do.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const dataDir = realpathSync(options.dataDir);
  const binary = await findTemporalBinary(options);
  mkdirSync(join(dataDir, 'temporal'), { recursive: true, mode: 0o700 });
  await endFormerServer(dataDir);
  for (let triesLeft = 3; ; triesLeft -= 1) {
    try {
      return await startOnce({
        binary: binary.path,
        dataDir,
        options,
        ports: await choosePorts(options.ports),
      });
    } catch (error) {
      if (triesLeft === 0 || !isPortTaken(error)) throw error;
    }
  }
}

/** Asks the server for a namespace; resolves when it answers. Throws what the client throws. */
export async function probeTemporal(temporalAddress: string, namespace: string): Promise<void> {
  await withConnection(temporalAddress, async (connection) => {
    await connection.workflowService.describeNamespace({ namespace });
  });
}

type Start = {
  readonly binary: string;
  readonly dataDir: string;
  readonly options: TemporalOptions;
  readonly ports: { readonly port: number; readonly uiPort: number };
};

async function startOnce({ binary, dataDir, options, ports }: Start): Promise<RunningTemporal> {
  const temporalAddress = `127.0.0.1:${ports.port}`;
  const settings = options.settings ?? localSettings;
  const part = await startPart({
    name: 'The Temporal server',
    command: binary,
    args: serverArguments({ dataDir, ports, settings }),
    environment: serverEnvironment(options.environment, settings),
    cwd: dataDir,
    logFile: join(dataDir, 'logs', 'temporal.log'),
  });
  writeFileSync(processFile(dataDir), JSON.stringify(part.process));
  await waitUntilReady(part, { probe: () => prepareNamespace(temporalAddress), timeoutMs: 60_000 });
  return { process: part.process, ...ports, temporalAddress };
}

/** Two servers on one database file would damage it; the stack file that knew the former one may be gone. */
export async function endFormerServer(dataDir: string): Promise<void> {
  const former = readIdentityFile(processFile(dataDir));
  await endProcess(former, { signal: 'SIGTERM', graceMs: 10_000 });
}

function processFile(dataDir: string): string {
  return join(dataDir, 'temporal', 'process.json');
}

type ServerArguments = Pick<Start, 'dataDir' | 'ports'> & { readonly settings: TemporalSettings };

function serverArguments({ dataDir, ports: { port, uiPort }, settings }: ServerArguments): string[] {
  const attributes = Object.entries(searchAttributes).map(([name, type]) => `${name}=${type}`);
  const config = Object.entries(settings.dynamicConfig).map(([key, value]) => `${key}=${value}`);
  const flags = {
    '--ip': '127.0.0.1',
    '--port': String(port),
    '--ui-ip': '127.0.0.1',
    '--ui-port': String(uiPort),
    '--db-filename': join(dataDir, 'temporal', 'temporal.db'),
    '--log-level': 'warn',
  };
  return [
    'server',
    'start-dev',
    '--ui-disable-news-fetch',
    ...Object.entries(flags).flat(),
    ...settings.sqlitePragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...config.flatMap((value) => ['--dynamic-config-value', value]),
    ...attributes.flatMap((attribute) => ['--search-attribute', attribute]),
  ];
}

/** What the server is told of the user's environment; keys of providers are none of its business. */
const passedOn = /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|SSL_CERT_\w+|GO\w+)$/;

/** The user's TEMPORAL_ variables are for clients too; some would be read as flags of the server command. */
function serverEnvironment(
  environment: BinarySearch['environment'],
  { go }: TemporalSettings,
): Record<string, string | undefined> {
  const own = Object.entries(environment).filter(([name]) => passedOn.test(name));
  return { ...Object.fromEntries(own), ...go };
}

async function prepareNamespace(temporalAddress: string): Promise<void> {
  await withConnection(temporalAddress, async (connection) => {
    const { config } = await connection.workflowService.describeNamespace({ namespace: localNamespace });
    const retentionMs = retentionDays * 24 * 3_600_000;
    if (optionalTsToMs(config?.workflowExecutionRetentionTtl) === retentionMs) return;
    await connection.workflowService.updateNamespace({
      namespace: localNamespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionMs) },
    });
  });
}

async function withConnection(
  address: string,
  use: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2000 });
  try {
    await connection.withDeadline(Date.now() + 5000, () => use(connection));
  } finally {
    await connection.close();
  }
}

async function choosePorts(former: TemporalOptions['ports']): Promise<Start['ports']> {
  const keep = async (port: number | undefined) =>
    port !== undefined && (await isPortFree(port)) ? port : await findFreePort();
  return { port: await keep(former?.port), uiPort: await keep(former?.uiPort) };
}

function isPortTaken(error: unknown): boolean {
  return error instanceof StackError && /address already in use|can't set (ui )?port/i.test(error.message);
}
