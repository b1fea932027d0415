import type { ToolPolicyChange } from './tool-policy.ts';
import type { ToolSchema } from './transcript.ts';

/** A server of the Model Context Protocol whose tools an agent is offered. */
export type McpServerSpec = {
  /** Unique in its harness; its tools are called `<name>__<tool>`. */
  readonly name: string;
  readonly transport: McpTransportSpec;
  /** The server's own names of the tools that are offered; null = all. */
  readonly tools: readonly string[] | null;
  /** What the run file says of tools, by the server's own names. */
  readonly policies: { readonly [tool: string]: ToolPolicyChange };
};

export type McpTransportSpec =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the minimal environment. */
      readonly variables: { readonly [name: string]: string };
      /** What it holds is part of the attempt: its death is the loss of the environment. */
      readonly stateful: boolean;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      /** Name of a header -> name of the environment variable that holds its value. */
      readonly headersEnv: { readonly [header: string]: string };
    };

/** A tool as its server described it when the request first used it: what models are told from then on. */
export type McpTool = {
  readonly server: string;
  /** The server's own name. */
  readonly tool: string;
  readonly schema: ToolSchema;
};

const MAX_NAME = 64;

/** `server__tool`, in the letters and the length that all model providers take. */
export const toMcpToolName = (server: string, tool: string): string =>
  `${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, MAX_NAME);
