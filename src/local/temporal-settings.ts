/** Search attributes of Assay's workflows (SPEC 14) with their types in Temporal's words. */
export const searchAttributes = {
  AssayRun: 'Keyword',
  AssayRequest: 'Keyword',
  AssayOutcome: 'Keyword',
  AssayModel: 'KeywordList',
  AssayCase: 'KeywordList',
} as const;

/** How long closed workflows stay visible in Temporal's UI. Results live in the store and stay for ever. */
export const retentionDays = 30;

/** SQLite pragmas of the local server; docs/temporal-settings.md has the measurements. */
export const sqlitePragmas: readonly string[] = [
  'journal_mode=wal',
  'synchronous=normal',
  'cache_size=-65536',
  'temp_store=memory',
];

/** Dynamic configuration of the local server, values as JSON; docs/temporal-settings.md has the measurements. */
export const dynamicConfig: Readonly<Record<string, string>> = {
  'frontend.namespaceRPS': '20000',
  'history.maxTrackedBuildIds': '0',
};

/** Go's garbage collector: fewer collections, under a bound (SPEC 15: server under 1.5 GiB). */
export const goSettings = { GOGC: '200', GOMEMLIMIT: '1200MiB' } as const;
