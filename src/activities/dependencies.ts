import type { LRUCache } from 'lru-cache';
import type { Analyzer } from '../analyzers/analyzer.ts';
import type { McpTool } from '../domain/mcp-server.ts';
import type { RunModule } from '../domain/run-module.ts';
import type { ProviderSpec } from '../domain/run.ts';

import type { EnvironmentProvider, SessionHandle } from '../environments/environment.ts';
import type { ModulePool } from '../modules/module-pool.ts';
import type { McpPool } from '../tools/mcp-pool.ts';
import type { ModelProvider } from '../providers/provider.ts';
import type { HoldPace } from '../store/engine-health.ts';
import type { TransactionalDb } from '../store/pool.ts';
import type { BlobCache } from './blob-cache.ts';
import type { RunReader } from './run-reader.ts';
import type { TranscriptCache } from './transcript-cache.ts';

/** The real things that activities work with; `worker/` builds them. */
export type Dependencies = {
  readonly db: TransactionalDb;
  readonly runs: RunReader;
  readonly blobs: BlobCache;
  readonly transcripts: TranscriptCache;
  /** Value of the environment variable that a provider names, or null. */
  readonly readKey: (name: string) => string | null;
  /** `module` is that of the run, which may bring kinds of its own. */
  readonly providerFor: (provider: ProviderSpec, module?: RunModule) => ModelProvider;
  readonly environmentFor: (kind: string) => EnvironmentProvider;
  readonly analyzers: readonly Analyzer[];
  /** Told of a session that is kept for a person: it takes no place of this host any more. */
  readonly onSessionKept: (session: SessionHandle) => void;
  /** Processes that run the code of run files. */
  readonly modules: ModulePool;
  /** Connections to MCP servers, one for each session and server. */
  readonly mcp: McpPool;
  /** Their tools as recorded, by request. */
  readonly mcpLists: LRUCache<string, ReadonlyMap<string, readonly McpTool[]>>;
  /** Stable over restarts of workers on this machine. */
  readonly hostId: string;
  /** Told of each call that a provider throttled: this process gives the engine less. */
  readonly onThrottled: (engineId: string) => void;
  /**
   * A slot among the calls of an engine in flight, for a call that its queue does not bring; returns how to give it
   * back. Rejects with the signal's reason.
   */
  readonly borrowSlot: (engineId: string, signal: AbortSignal) => Promise<() => void>;
  /** Told what is found out about an engine: while it is unknown, this process sends it one call at a time. */
  readonly onEngine: (engineId: string, health: 'alive' | 'unknown') => void;
  /** Tests: breakers that are half open sooner. */
  readonly holdPace?: HoldPace;
  /** Tests: sessions that never get ready are given up sooner. */
  readonly setUpMs?: number;
  /** Hides the values of known keys: in everything that is kept and read back. */
  readonly redact: (text: string) => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly now: () => number;
  /** Whether the server knows Assay's search attributes; asked once. */
  readonly hasSearchAttributes: () => Promise<boolean>;
};
