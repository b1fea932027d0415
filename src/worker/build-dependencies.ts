import { join } from 'node:path';
import type { NativeConnection } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Analyzer } from '../analyzers/analyzer.ts';
import { ANALYZERS } from '../analyzers/lookup.ts';
import { BlobCache } from '../activities/blob-cache.ts';
import type { Dependencies } from '../activities/dependencies.ts';
import { RunReader } from '../activities/run-reader.ts';
import { TranscriptCache } from '../activities/transcript-cache.ts';
import { readKey } from '../config/environment-variables.ts';
import type { Target } from '../domain/suite.ts';
import { readSessionLimits } from '../config/session-limits.ts';
import type { EnvironmentProvider } from '../environments/environment.ts';
import { createEnvironments } from '../environments/lookup.ts';
import { McpPool } from '../tools/mcp-pool.ts';
import { ModulePool } from '../modules/module-pool.ts';
import { createModuleProviders } from '../modules/module-provider.ts';
import { createProviderLookup } from '../providers/lookup.ts';
import type { ModelProvider, ModelRequest } from '../providers/provider.ts';
import type { TransactionalDb } from '../store/pool.ts';
import { countSessions, type CountedEnvironment } from './counted-environments.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { findSearchAttributes } from './search-attributes.ts';

export type Built = {
  readonly dependencies: Dependencies;
  readonly environments: readonly CountedEnvironment[];
};

type Parts = {
  readonly db: TransactionalDb;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly dataDir: string;
  readonly hostId: string;
  readonly projectDir: string | null;
  readonly logger: Logger;
  readonly secrets: KnownSecrets;
  readonly wrapEnvironment?: (environment: EnvironmentProvider) => EnvironmentProvider;
  readonly analyzers?: readonly Analyzer[];
} & Pick<Dependencies, 'onThrottled' | 'borrowSlot' | 'onEngine' | 'holdPace' | 'setUpMs'>;

/** Builds the real things that activities work with. */
export function buildDependencies(parts: Parts): Built {
  const { db, connection, namespace, dataDir, hostId, projectDir, logger, secrets } = parts;
  const path = readKey('PATH') ?? '';
  const environments = buildEnvironments(parts, path);
  const runs = new RunReader(db);
  const blobs = new BlobCache(db);
  const modules = new ModulePool({
    loadCode: (digest) => blobs.load(digest),
    projectDir,
    onOutput: (path, line) => logger.info({ module: path }, secrets.redact(line)),
  });
  const dependencies: Dependencies = {
    db,
    runs,
    blobs,
    transcripts: new TranscriptCache(db),
    modules,
    mcp: new McpPool({ folder: join(dataDir, 'mcp'), path, readVariable: (name) => secrets.read(name) }),
    mcpLists: new LRUCache({ max: 100 }),
    readKey: (name) => secrets.read(name),
    providerFor: rememberProviders({ secrets, modules, resolveTarget: (cell) => resolveTarget(runs, cell) }),
    analyzers: parts.analyzers ?? ANALYZERS,
    onSessionKept: ({ kind, sessionId }) =>
      environments.find(({ provider }) => provider.kind === kind)?.slots.free(sessionId),
    environmentFor: (kind) => {
      const environment = environments.find(({ provider }) => provider.kind === kind);
      if (environment === undefined) throw new Error(`environment "${kind}" opens no session`);
      return environment.provider;
    },
    hostId,
    ...toCallWatch(parts),
    redact: (text) => secrets.redact(text),
    random: Math.random,
    now: Date.now,
    hasSearchAttributes: rememberAnswer(() => findSearchAttributes(connection, namespace)),
  };
  return { dependencies, environments };
}

const toCallWatch = ({ onThrottled, borrowSlot, onEngine, holdPace, setUpMs }: Parts) => ({
  onThrottled,
  borrowSlot,
  onEngine,
  ...(holdPace === undefined ? {} : { holdPace }),
  ...(setUpMs === undefined ? {} : { setUpMs }),
});

function buildEnvironments(
  { dataDir, hostId, logger, wrapEnvironment = (environment) => environment }: Parts,
  path: string,
): readonly CountedEnvironment[] {
  const place = { hostId, installationId: hostId, path };
  const providers = createEnvironments({
    host: { ...place, root: join(dataDir, 'sessions') },
    bubblewrap: { ...place, root: join(dataDir, 'sandboxes') },
    docker: {
      ...place,
      root: join(dataDir, 'containers'),
      dockerHost: readKey('DOCKER_HOST'),
      onPull: (line) => logger.info(line),
    },
  });
  return countSessions(providers.map(wrapEnvironment), readSessionLimits());
}

type ResolveTarget = (cell: ModelRequest['cell']) => Promise<Target | null>;

/** One adapter for each provider as declared: its connections are shared by all calls. */
function rememberProviders({
  secrets,
  modules,
  resolveTarget,
}: {
  readonly secrets: KnownSecrets;
  readonly modules: ModulePool;
  readonly resolveTarget: ResolveTarget;
}): Dependencies['providerFor'] {
  const known = new Map<string, { readonly apiKey: string | null; readonly created: ModelProvider }>();
  return (provider, module) => {
    const apiKey = provider.apiKeyEnv === null ? null : secrets.read(provider.apiKeyEnv);
    const own = module?.providers.some(({ kind }) => kind === provider.kind) === true ? module : undefined;
    const key = JSON.stringify([provider, own?.digest ?? null, own?.projectDir ?? null]);
    const found = known.get(key);
    if (found !== undefined && found.apiKey === apiKey) return found.created;
    const lookup = createProviderLookup(own === undefined ? [] : createModuleProviders(modules, own));
    const created = lookup.createProvider(provider, { apiKey, resolveTarget });
    known.set(key, { apiKey, created });
    return created;
  };
}

/** Scripted models that know the answers: the one place besides scorers where a target is read. */
async function resolveTarget(runs: RunReader, cell: ModelRequest['cell']): Promise<Target | null> {
  const plan = await runs.plan(cell.runId);
  const requestIndex = plan.requests.findIndex((request) => request.spec.name === cell.requestName);
  return await runs.target({ runId: cell.runId, requestIndex, caseId: cell.caseId });
}

function rememberAnswer<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = null;
      throw error;
    });
    return answer;
  };
}
