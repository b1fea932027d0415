/** Search attributes of Assay's workflows with their types in Temporal's words. */
export const searchAttributes = {
  AssayRun: 'Keyword',
  AssayRequest: 'Keyword',
  AssayOutcome: 'Keyword',
  AssayModel: 'KeywordList',
  AssayCase: 'KeywordList',
} as const;

/** How long closed workflows stay visible in Temporal's UI. Results live in the store and stay for ever. */
export const retentionDays = 30;

/** How the server works with its database file, its dynamic configuration (values as JSON), and Go's collector. */
export type TemporalSettings = {
  readonly sqlitePragmas: readonly string[];
  readonly dynamicConfig: Readonly<Record<string, string>>;
  readonly go: { readonly GOGC?: string; readonly GOMEMLIMIT?: string; readonly GODEBUG?: string };
};

/** The settings of the local server; docs/temporal-settings.md says why, with measurements. */
export const localSettings: TemporalSettings = {
  sqlitePragmas: ['journal_mode=wal', 'synchronous=normal', 'cache_size=-65536', 'temp_store=memory'],
  dynamicConfig: {
    'frontend.namespaceRPS': '20000',
    // Calls of one run do not wait behind all calls of another (their fairness key is the run).
    'matching.enableFairness': 'true',
    // Else no timer fires within a second: a booked start would come late.
    'history.timerProcessorMaxTimeShift': '"100ms"',
    // A run drains before it continues as new: half as often as at the server's 4,096 events.
    'limit.historyCount.suggestContinueAsNew': '8000',
    // Else an agent that runs alone makes at most 20 / 4 steps a second.
    'history.transferProcessorMaxPollRPS': '50',
    // The cache of workflows is bounded by its size, not by a number of workflows that fits a large machine.
    'history.cacheSizeBasedLimit': 'true',
    'history.hostLevelCacheMaxSizeBytes': String(256 * 1024 * 1024),
    'history.cacheTTL': '"10m"',
    // One process serves every queue: more partitions only forward tasks to each other.
    'matching.numTaskqueueReadPartitions': '1',
    'matching.numTaskqueueWritePartitions': '1',
  },
  go: { GOGC: '200', GOMEMLIMIT: '1200MiB', GODEBUG: 'adaptivestackstart=1' },
};
