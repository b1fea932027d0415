import {
  fillPlaceholders,
  holdsPrompt,
  LONGEST_ARGUMENT_BYTES,
  type CommandHarness,
  type Placeholder,
} from '../domain/command-harness.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { adjustInput } from '../harnesses/adjust-input.ts';
import { toPrompt } from '../harnesses/command.ts';
import type { RecordingProxy } from './recording-proxy.ts';
import type { CellPlace } from './run-reader.ts';

export type AgentPlace = {
  readonly harness: CommandHarness;
  readonly place: CellPlace;
  readonly session: EnvironmentSession;
  /** Where it finds its model; null = it knows itself. */
  readonly proxy: Pick<RecordingProxy, 'baseUrls' | 'token'> | null;
  readonly readKey: (name: string) => string | null;
};

/** What is executed, with every placeholder filled in. */
export type AgentCommand = {
  readonly command: readonly string[];
  readonly stdin: string | null;
  readonly variables: { readonly [name: string]: string };
  /** Written before the start; null = nothing. */
  readonly promptFile: { readonly path: string; readonly text: string } | null;
};

export function toAgentCommand({ harness, place, session, proxy, readKey }: AgentPlace): AgentCommand {
  const prompt = toPrompt(adjustInput(place.testCase, place.request.spec.environment));
  const way = harness.prompt;
  const values: { readonly [K in Placeholder]?: string | undefined } = {
    prompt,
    promptFile: way.kind === 'file' ? `${session.workDirectory}/${way.path}` : undefined,
    model: place.model.model,
    workdir: session.workDirectory,
    openaiUrl: proxy?.baseUrls.openai,
    anthropicUrl: proxy?.baseUrls.anthropic,
    googleUrl: proxy?.baseUrls.google,
    token: proxy?.token,
  };
  const fill = (text: string): string => fillPlaceholders(text, values);
  const isLast = way.kind === 'argument' && !holdsPrompt(harness.command);
  const given = Object.entries(harness.variablesEnv).map(([name, from]) => [name, readKey(from) ?? '']);
  const filled = Object.entries(harness.variables).map(([name, value]) => [name, fill(value)]);
  return {
    command: [...harness.command.map(fill), ...(isLast ? [prompt] : [])],
    stdin: way.kind === 'stdin' ? prompt : null,
    variables: Object.fromEntries([...filled, ...given]),
    promptFile: way.kind === 'file' ? { path: way.path, text: prompt } : null,
  };
}

/** A prompt that no program can be started with, by no number of tries; null = it fits. */
export function findTooLong({ command }: AgentCommand): AgentEnd | null {
  const bytes = Math.max(...command.map((part) => Buffer.byteLength(part)));
  if (bytes <= LONGEST_ARGUMENT_BYTES) return null;
  const message = `an argument of the agent's command has ${bytes} bytes, and one may have ${LONGEST_ARGUMENT_BYTES}: use prompt: stdin, or prompt: { file: PATH }`;
  return { kind: 'failed', outcome: 'error', reason: { code: 'prompt_too_long', phase: 'run', message } };
}
