import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Json, JsonObject } from '../domain/json.ts';
import { toMcpToolName, type McpServerSpec, type McpTool } from '../domain/mcp-server.ts';
import { toToolResult } from './mcp-result.ts';
import { StdioTransport } from './mcp-stdio.ts';
import type { ToolContext, ToolResult } from './tool.ts';

const CONNECT_MS = 30_000;

/** A server cannot be reached or does not speak the protocol. The message says which and why. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError';
  /** Another try may find it there. */
  readonly retryable = true;
}

export type ConnectRequest = {
  readonly spec: McpServerSpec;
  /** Where a stdio server's process is written down. */
  readonly folder: string;
  readonly cwd: string | null;
  readonly path: string;
  /** Value of an environment variable of the worker, or null. */
  readonly readVariable: (name: string) => string | null;
  /** Ends the wait for a server that does not answer. */
  readonly signal?: AbortSignal;
};

/** One connection to one server, for one session. */
export class McpConnection {
  readonly spec: McpServerSpec;
  private readonly client: Client;
  private readonly transport: Transport;
  private ended = false;

  private constructor(spec: McpServerSpec, client: Client, transport: Transport) {
    this.spec = spec;
    this.client = client;
    this.transport = transport;
  }

  /** Throws a McpServerError. */
  static async open(request: ConnectRequest): Promise<McpConnection> {
    const { spec, signal } = request;
    const transport = createTransport(request);
    const client = new Client({ name: 'assay', version: '1' });
    const connection = new McpConnection(spec, client, transport);
    client.onclose = () => void (connection.ended = true);
    try {
      await client.connect(transport, { timeout: CONNECT_MS, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw new McpServerError(
        `MCP server "${spec.name}" could not be reached: ${connection.describe(error)}`,
        {
          cause: error,
        },
      );
    }
    return connection;
  }

  get isOver(): boolean {
    return this.ended;
  }

  /** Every tool that the run file offers, in the server's order. Throws a McpServerError when one is not there. */
  async listTools(): Promise<readonly McpTool[]> {
    const { name: server, tools: wanted } = this.spec;
    const found: McpTool[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: CONNECT_MS,
      });
      for (const { name: tool, description = '', inputSchema } of page.tools) {
        if (wanted !== null && !wanted.includes(tool)) continue;
        const schema = { name: toMcpToolName(server, tool), description, parameters: inputSchema as Json };
        found.push({ server, tool, schema });
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const missing = (wanted ?? []).filter((tool) => !found.some((one) => one.tool === tool));
    if (missing.length > 0)
      throw new McpServerError(
        `MCP server "${server}" has no tool ${missing.join(', ')}; remove it from the run file`,
      );
    return found;
  }

  /** Throws the SDK's error when the connection breaks; failures and time-outs of the tool are results. */
  async call(tool: string, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    const { timeoutMs, signal, idempotencyKey } = context;
    try {
      const answer = await this.client.callTool(
        { name: tool, arguments: args, _meta: { 'assay/idempotencyKey': idempotencyKey } },
        undefined,
        { timeout: timeoutMs, signal },
      );
      return toToolResult(answer as CallToolResult);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (error.code === Number(ErrorCode.RequestTimeout)) return toTimeout(this.spec.name, tool, timeoutMs);
      if (error.code === Number(ErrorCode.ConnectionClosed)) throw error;
      return { status: 'error', text: error.message };
    }
  }

  async close(): Promise<void> {
    this.ended = true;
    if (this.transport instanceof StreamableHTTPClientTransport)
      await this.transport.terminateSession().catch(() => undefined);
    await this.client.close();
    await this.transport.close();
  }

  /** An error in words, with what the server wrote before it ended. */
  describe(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    const words = this.transport instanceof StdioTransport ? this.transport.lastWords : '';
    return words === '' ? message : `${message}; it wrote: ${words}`;
  }
}

function createTransport({ spec, folder, cwd, path, readVariable }: ConnectRequest): Transport {
  const { transport } = spec;
  if (transport.kind === 'stdio') {
    const minimal = { PATH: path, HOME: cwd ?? folder, LANG: 'C.UTF-8' };
    const { command, args } = transport;
    return new StdioTransport({
      command,
      args,
      variables: { ...minimal, ...transport.variables },
      cwd,
      folder,
    });
  }
  const headers: { [name: string]: string } = {};
  for (const [header, variable] of Object.entries(transport.headersEnv)) {
    const value = readVariable(variable);
    if (value === null)
      throw new McpServerError(
        `MCP server "${spec.name}" needs ${variable}, which this worker has not: export it`,
      );
    headers[header] = value;
  }
  // Its types and the interface differ in how they write "may be absent".
  return new StreamableHTTPClientTransport(new URL(transport.url), { requestInit: { headers } }) as Transport;
}

const toTimeout = (server: string, tool: string, timeoutMs: number): ToolResult => ({
  status: 'timeout',
  text: `${server}: ${tool} timed out: no result after ${(timeoutMs / 1000).toFixed(1)} s, its limit. Whether it had an effect is not known.`,
});
