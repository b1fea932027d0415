import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { localSettings, retentionDays, searchAttributes } from '../../src/local/temporal-settings.ts';

type Service = {
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly mem_limit?: string;
  readonly restart?: string;
  readonly healthcheck?: object;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const services = Object.entries(
  (parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> }).services,
);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-compose-'));
  for (const path of ['docker-compose.yml', 'deploy'])
    cpSync(join(root, path), join(folder, path), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every service is bounded in memory and starts again, and listens on loopback only', () => {
  for (const [name, service] of services) {
    expect({ name, memory: service.mem_limit }).toEqual({ name, memory: expect.any(String) });
    expect(service.restart).toMatch(/^(unless-stopped|on-failure:\d+)$/);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

test('no secret stands in the compose file: each comes from .env, and a missing one is told', () => {
  const values = services.flatMap(([, { environment }]) => Object.entries(environment ?? {}));
  const secrets = values.filter(([name]) => /password|pwd|secret|key|database_url/i.test(name));
  expect(secrets).toHaveLength(4);
  for (const [, value] of secrets)
    expect(value).toMatch(/\$\{POSTGRES_PASSWORD:\?put POSTGRES_PASSWORD into \.env/);
  expect(read('.env.example')).toMatch(/^POSTGRES_PASSWORD=$/m);
  expect(read('.gitignore')).toMatch(/^\.env$/m);
});

test('the server of the compose file has the settings of the local one', () => {
  const settings = parse(read('deploy/temporal/dynamic-config.yaml')) as Record<string, [{ value: unknown }]>;
  const local = Object.entries(localSettings.dynamicConfig).map(([key, value]) => [key, JSON.parse(value)]);
  expect(Object.entries(settings).map(([key, [{ value }]]) => [key, value])).toEqual(local);
});

test('the namespace of the compose file has the retention and search attributes of the local one', () => {
  const script = read('deploy/temporal/namespace.sh');
  const added = [...script.matchAll(/^add_attribute (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]);
  expect(Object.fromEntries(added)).toEqual(searchAttributes);
  expect(script).toContain(`retention=\${RETENTION:-${retentionDays}d}`);
});

/** The command line of Docker Compose on this machine, or null. */
function findCompose(): readonly string[] | null {
  const ways = [['docker', 'compose'], ['docker-compose']];
  return (
    ways.find(([command = '', ...args]) => spawnSync(command, [...args, 'version']).status === 0) ?? null
  );
}

const found = findCompose();
if (found === null)
  console.log('Docker Compose is not installed: the test of the compose file by it is SKIPPED.');

const compose = (...args: readonly string[]) => {
  const [command = '', ...first] = found ?? [];
  const env = { PATH: process.env['PATH'], HOME: folder };
  return spawnSync(command, [...first, ...args], { cwd: folder, env, encoding: 'utf8' });
};

test.skipIf(found === null)(
  'Docker Compose accepts the file with the example of .env, and names a password that is missing',
  { timeout: 60_000 },
  () => {
    writeFileSync(join(folder, '.env'), read('.env.example'));
    expect(compose('config').stderr).toContain('put POSTGRES_PASSWORD into .env');
    writeFileSync(join(folder, '.env'), read('.env.example').replace('PASSWORD=', 'PASSWORD=only-of-a-test'));
    const { status, stdout, stderr } = compose('config');
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const resolved = (parse(stdout) as { services: Record<string, Service> }).services;
    expect(Object.keys(resolved).sort()).toEqual(services.map(([name]) => name).sort());
    expect(resolved['worker']?.environment).toMatchObject({
      DATABASE_URL: 'postgres://assay:only-of-a-test@postgres:5432/assay',
      ASSAY_WORKER: 'elsewhere',
    });
  },
);
