import { formatAttemptKey, type Cell } from '../domain/ids.ts';
import type { McpServerSpec, McpTool } from '../domain/mcp-server.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { loadServerTools, recordServerTools } from '../store/request-tools.ts';
import { createMcpTool } from '../tools/mcp-tool.ts';
import type { McpSession } from '../tools/mcp-pool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Dependencies } from './dependencies.ts';
import { findRunTool } from './run-code.ts';
import type { CellPlace } from './run-reader.ts';

const listServers = ({ request }: CellPlace): readonly McpServerSpec[] => {
  const { harness } = request.spec;
  return harness.kind === 'agent' ? (harness.mcp ?? []) : [];
};

/** What models are told of a request's MCP servers; recorded when the first session opens, before any call. */
export async function loadMcpTools(
  { db, mcpLists }: Dependencies,
  place: CellPlace,
): Promise<readonly McpTool[]> {
  const servers = listServers(place);
  if (servers.length === 0) return [];
  const key = { runId: place.plan.runId, requestIndex: place.request.index };
  const name = JSON.stringify(key);
  const lists = mcpLists.get(name) ?? (await loadServerTools(db, key));
  if (servers.some((server) => !lists.has(server.name)))
    throw new Error('the tools of an MCP server are not recorded yet');
  mcpLists.set(name, lists);
  return servers.flatMap((server) => lists.get(server.name) ?? []);
}

export type ToolPlace = {
  readonly place: CellPlace;
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly session: EnvironmentSession | null;
};

/** Starts the servers of a session, and records their tools where the request has not seen them before. */
export async function openServers(
  dependencies: Dependencies,
  where: ToolPlace,
  signal: AbortSignal,
): Promise<void> {
  const { place } = where;
  const key = { runId: place.plan.runId, requestIndex: place.request.index };
  for (const server of listServers(place)) {
    const connection = await dependencies.mcp.open(toMcpSession(where), server, signal);
    await recordServerTools(dependencies.db, key, {
      server: server.name,
      tools: await connection.listTools(),
    });
  }
}

/** A tool that the model was offered: of a server, of the run file, or built in. Null for any other name. */
export async function findOfferedTool(
  dependencies: Dependencies,
  where: ToolPlace,
  name: string,
): Promise<{ readonly tool: Tool | null; readonly offered: readonly string[] }> {
  const { place } = where;
  const { harness } = place.request.spec;
  const served = await loadMcpTools(dependencies, place);
  const offered = [
    ...(harness.kind === 'agent' ? harness.tools : []),
    ...served.map(({ schema }) => schema.name),
  ];
  const found = served.find(({ schema }) => schema.name === name);
  const server = listServers(place).find((one) => one.name === found?.server);
  if (found === undefined || server === undefined)
    return { tool: findRunTool(dependencies.modules, { owner: place.plan, harness }, name), offered };
  const session = toMcpSession(where);
  return { tool: createMcpTool({ pool: dependencies.mcp, server, session }, found), offered };
}

/** Servers work in the session's directory where that is one of this machine's. */
function toMcpSession({ cell, tryNumber, session }: ToolPlace): McpSession {
  if (session === null) {
    const sessionId = `${formatAttemptKey(cell)}/t${tryNumber}`;
    return { sessionId, isOpen: false, findDirectory: async () => null };
  }
  const { sessionId, kind } = session.handle;
  return {
    sessionId,
    isOpen: true,
    findDirectory: async () => (kind === 'host' ? await findDirectory(session) : null),
  };
}

async function findDirectory(session: EnvironmentSession): Promise<string | null> {
  const request = { command: 'pwd', timeoutMs: 10_000, stdin: null, cwd: null, variables: {} };
  const { output, exitCode } = await session.exec(request, new AbortController().signal);
  return exitCode === 0 ? output.trim() : null;
}
