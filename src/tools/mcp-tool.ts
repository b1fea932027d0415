import { McpError } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerSpec, McpTool } from '../domain/mcp-server.ts';
import { changePolicy, toToolPolicy } from '../domain/tool-policy.ts';
import { SessionLostError } from '../environments/environment.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpPool, McpSession } from './mcp-pool.ts';
import type { Tool } from './tool.ts';

export type McpToolPlace = {
  readonly pool: McpPool;
  readonly server: McpServerSpec;
  readonly session: McpSession;
};

/** A tool of a server; not idempotent unless the run file says so, whatever the server's hints say. */
export const createMcpTool = (place: McpToolPlace, { tool, schema }: McpTool): Tool => ({
  schema,
  policy: changePolicy(toToolPolicy({}), place.server.policies[tool]),
  place: 'session',
  run: async (args, context) => {
    const connection = await connect(place);
    try {
      return await connection.call(tool, args, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof McpError) && !connection.isOver) throw error;
      throw toEnded(place, connection.describe(error));
    }
  },
});

/** A server that ended is started again, unless what it held is part of the attempt. */
async function connect({ pool, server, session }: McpToolPlace): Promise<McpConnection> {
  if (!isStateful(server)) return await pool.open(session, server);
  const connection = await pool.find(session.sessionId, server.name);
  if (connection === null)
    throw new SessionLostError(`MCP server "${server.name}" has ended, and what it held is gone`);
  return connection;
}

const isStateful = ({ transport }: McpServerSpec): boolean =>
  transport.kind === 'stdio' && transport.stateful;

/** For a tool that may be repeated it passes; the others' models are told. */
function toEnded({ server }: McpToolPlace, why: string): Error {
  if (isStateful(server)) return new SessionLostError(`MCP server "${server.name}" ended: ${why}`);
  const message = `MCP server "${server.name}" ended during the call (${why}). Whether it had an effect is not known; the next call starts it again.`;
  return Object.assign(new Error(message), { retryable: true });
}
