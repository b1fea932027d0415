import { callsProvider } from './calls-provider.ts';
import type { RunSpec } from './run.ts';

/** Variables whose keys a run needs: those that the providers of its models and judges and its MCP servers name, each once, in order. */
export function listKeyNames({ providers, models, judges = [], requests }: RunSpec): readonly string[] {
  const used = new Set(requests.filter(callsProvider).flatMap((request) => request.modelIds));
  const called = [...models.filter(({ id }) => used.has(id)), ...judges];
  const providerIds = new Set(called.map(({ providerId }) => providerId));
  const names = providers.filter(({ id }) => providerIds.has(id)).map(({ apiKeyEnv }) => apiKeyEnv);
  const servers = requests.flatMap(({ harness }) => (harness.kind === 'agent' ? (harness.mcp ?? []) : []));
  const ofServers = servers.flatMap(({ transport }) =>
    transport.kind === 'http' ? Object.values(transport.headersEnv) : [],
  );
  const ofAgents = requests.flatMap(({ harness }) =>
    harness.kind === 'command' ? Object.values(harness.variablesEnv) : [],
  );
  return [...new Set([...names.filter((name) => name !== null), ...ofServers, ...ofAgents])].toSorted();
}

/** What a run waits for, and what to type, as a sentence: `Waiting for A_KEY, which no worker has: ...`. */
export function describeMissingKeys(names: readonly string[], runId: string): string {
  const exports = names.map((name) => `export ${name}=...`).join('; ');
  return (
    `Waiting for ${names.join(' and ')}, which no worker has: \`${exports}\`, then \`assay watch ${runId}\` hands ` +
    `${names.length === 1 ? 'it' : 'them'} over (for workers on other machines: export there and start them again).`
  );
}
