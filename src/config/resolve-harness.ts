import type { HarnessSpec } from '../domain/run.ts';
import type { McpServerSpec } from '../domain/mcp-server.ts';
import {
  changePolicy,
  findPolicyProblem,
  toToolPolicy,
  type ToolPolicyChange,
} from '../domain/tool-policy.ts';
import type { Catalog } from './catalog.ts';
import type { HarnessEntry, McpServerEntry, ToolEntry } from './harness-schema.ts';
import { findNearest } from './nearest.ts';
import type { Finding } from './problem.ts';
import { resolveCommand } from './resolve-command.ts';

type Report = (finding: Finding) => void;

type Asked = {
  readonly given: HarnessEntry;
  /** The request has no environment. */
  readonly isBare: boolean;
};

/** A harness with every default filled in; what is wrong is reported and left out. */
export function resolveHarness({ given, isBare }: Asked, catalog: Catalog, report: Report): HarnessSpec {
  const kind = typeof given === 'string' ? given : given.kind;
  switch (kind) {
    case 'direct':
      return { kind };
    case 'agent': {
      const entry = typeof given === 'string' || given.kind !== 'agent' ? null : given;
      const alone = isBare && (entry?.mcp ?? []).length > 0;
      const offered = alone ? [...(catalog.moduleTools ?? [])] : toOffered(catalog, isBare);
      const harness = resolveAgent(entry, offered, { catalog, report });
      if (isBare) checkActing(harness, catalog, report);
      return harness;
    }
    case 'command':
      if (typeof given === 'string' || given.kind !== 'command') return { kind: 'direct' };
      if (isBare) report(NEEDS_ENVIRONMENT);
      return resolveCommand(given, catalog, report) ?? { kind: 'direct' };
  }
}

const NEEDS_ENVIRONMENT: Finding = {
  path: ['environment'],
  message: 'the command harness needs an environment to act in: add environment: { kind: host }',
  expected: 'host',
  got: 'none',
};

type AgentSpec = Extract<HarnessSpec, { kind: 'agent' }>;
type AgentEntry = Extract<Exclude<HarnessEntry, string>, { kind: 'agent' }>;

function resolveAgent(
  entry: AgentEntry | null,
  offered: readonly string[],
  { catalog, report }: { readonly catalog: Catalog; readonly report: Report },
): AgentSpec {
  const named: readonly ToolEntry[] = entry?.tools ?? offered;
  const known = new Set([...catalog.tools, ...(catalog.moduleTools ?? [])]);
  const policies: { [tool: string]: ToolPolicyChange } = {};
  for (const [index, tool] of named.entries()) {
    const path = ['harness', 'tools', index];
    const toolName = toName(tool);
    if (!known.has(toolName)) {
      const all = [...known].join(', ');
      const message = `unknown tool "${toolName}"; available: ${all}`;
      const suggestion = findNearest(toolName, known);
      report({ path, message, expected: all, got: toolName, suggestion });
    }
    const change = toPolicyChange(tool);
    if (Object.keys(change).length === 0) continue;
    const own = catalog.policies?.get(toolName);
    const problem = own === undefined ? null : findPolicyProblem(changePolicy(own, change));
    if (problem !== null) report({ path: [...path, 'maxAttempts'], message: problem });
    policies[toolName] = change;
  }
  return {
    kind: 'agent',
    tools: [...new Set(named.map(toName))],
    maxSteps: entry?.maxSteps ?? 30,
    ...(Object.keys(policies).length === 0 ? {} : { policies }),
    ...(entry?.askExpiry === undefined ? {} : { askExpiryMs: entry.askExpiry }),
    ...(entry?.mcp === undefined ? {} : { mcp: resolveServers(entry.mcp, report) }),
  };
}

/** Names are unique: the names of tools begin with them. */
function resolveServers(given: readonly McpServerEntry[], report: Report): readonly McpServerSpec[] {
  const names = given.map((server) => server.name);
  return given.map((server, index): McpServerSpec => {
    if (names.indexOf(server.name) !== index)
      report({ path: ['harness', 'mcp', index, 'name'], message: `two servers are called "${server.name}"` });
    const policies: { [tool: string]: ToolPolicyChange } = {};
    for (const [at, tool] of (server.tools ?? []).entries()) {
      const change = toPolicyChange(tool);
      const problem = findPolicyProblem(changePolicy(toToolPolicy({}), change));
      if (problem !== null)
        report({ path: ['harness', 'mcp', index, 'tools', at, 'maxAttempts'], message: problem });
      if (Object.keys(change).length > 0) policies[toName(tool)] = change;
    }
    const tools = server.tools?.map(toName) ?? null;
    return { name: server.name, transport: toTransport(server), tools, policies };
  });
}

const toTransport = (server: McpServerEntry): McpServerSpec['transport'] =>
  'url' in server
    ? { kind: 'http', url: server.url, headersEnv: server.headersEnv }
    : {
        kind: 'stdio',
        command: server.command,
        args: server.args,
        variables: server.variables,
        stateful: server.stateful,
      };

const toName = (tool: ToolEntry): string => (typeof tool === 'string' ? tool : tool.name);

/** What a file says of a tool, with the names of `ToolPolicy`; empty when it says its name alone. */
function toPolicyChange(tool: ToolEntry): ToolPolicyChange {
  if (typeof tool === 'string') return {};
  const { idempotent, timeout, maxAttempts, onUnknown } = tool;
  return {
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(onUnknown === undefined ? {} : { onUnknown }),
  };
}

/** Tools that are named where a file names none: without an environment nothing but its own can act. */
function toOffered(
  { tools, freeTools = new Set(), moduleTools = new Set() }: Catalog,
  isBare: boolean,
): readonly string[] {
  const acting = [...tools].filter((tool) => !freeTools.has(tool));
  return isBare && moduleTools.size > 0 ? [...moduleTools] : [...acting, ...moduleTools];
}

/** Without an environment at least one tool must act elsewhere, and none may need one. */
function checkActing(harness: AgentSpec, catalog: Catalog, report: Report): void {
  const { moduleTools = new Set(), freeTools = new Set() } = catalog;
  const bound = harness.tools.filter((tool) => !moduleTools.has(tool) && !freeTools.has(tool));
  const servers = harness.mcp ?? [];
  const elsewhere = harness.tools.some((tool) => moduleTools.has(tool)) || servers.length > 0;
  const local = servers.find(({ transport }) => transport.kind === 'stdio');
  if (local !== undefined) {
    const message = `MCP server "${local.name}" runs beside a session: add environment: { kind: host }, or reach it by url`;
    report({ path: ['environment'], message, expected: 'host', got: 'none' });
  }
  if (bound.length === 0 && elsewhere) return;
  const message =
    moduleTools.size === 0
      ? 'the agent harness needs an environment to act in: add environment: { kind: host }'
      : `${bound.length === 0 ? 'the agent harness' : bound.join(', ')} needs an environment to act in: add environment: { kind: host }, or name tools of this file alone`;
  report({ path: ['environment'], message, expected: 'host', got: 'none' });
}
