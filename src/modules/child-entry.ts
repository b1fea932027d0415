import { registerHooks } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ChildMessage, LoadMessage, ModuleDescription, ParentMessage } from './child-messages.ts';
import { kindOf, nameOf } from './definition.ts';
import { describeDefinition } from './describe-definition.ts';
import { toErrorFacts } from './error-facts.ts';
import { readValue } from './read-value.ts';
import { runCall } from './run-call.ts';

/**
 * The process of one module: loads it, then makes one call at a time. What the module does to this process (exit,
 * hang, leak, a rejection that nobody handles) ends this process and nothing else.
 */

// The module gets no channel to the worker.
const channel = process.send?.bind(process);
Reflect.deleteProperty(process, 'send');

let url: string | null = null;
let definitions: ReadonlyMap<string, object> = new Map();
const running = new Map<number, AbortController>();

const send = (message: ChildMessage, then?: () => void): void => {
  channel?.(message, undefined, undefined, () => then?.());
};

const breakOff = (error: unknown): void =>
  send({ kind: 'broken', error: toErrorFacts(error, url) }, () => process.exit(70));

process.on('uncaughtException', breakOff);
process.on('unhandledRejection', (reason) =>
  breakOff(reason instanceof Error ? reason : new Error(`unhandled rejection: ${String(reason)}`)),
);
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ParentMessage) => void take(message));
watchParent();

async function take(message: ParentMessage): Promise<void> {
  if (message.kind === 'abort') {
    running.get(message.id)?.abort(new Error(message.reason));
    return;
  }
  if (message.kind === 'load') {
    url = message.url;
    try {
      send({ kind: 'loaded', description: await load(message) });
    } catch (error) {
      breakOff(error);
    }
    return;
  }
  const { id, call } = message;
  const stop = new AbortController();
  running.set(id, stop);
  try {
    const answer = await runCall(call, { definitions, signal: stop.signal, url });
    send({ kind: 'answered', id, answer, heapBytes: process.memoryUsage().heapUsed });
  } catch (error) {
    send({ kind: 'failed', id, error: toErrorFacts(error, url), heapBytes: process.memoryUsage().heapUsed });
  } finally {
    running.delete(id);
  }
}

/** Imports the code under the address of its file, so that packages resolve from its project. */
async function load(message: LoadMessage): Promise<ModuleDescription | null> {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === 'assay') return { url: message.ownUrl, shortCircuit: true };
      // The file itself need not be there: its code came with the message.
      if (specifier === message.url) return { url: message.url, shortCircuit: true };
      return next(specifier, context);
    },
    load: (address, context, next) =>
      address === message.url
        ? { format: 'module', source: message.code, shortCircuit: true }
        : next(address, context),
  });
  const exports = (await import(message.url)) as { readonly [name: string]: unknown };
  const value = exports[message.exportName];
  const read = readValue(value);
  for (const [name, given] of Object.entries(exports)) {
    const kind = kindOf(given);
    if (kind === null || kind === 'run' || kind === 'config') continue;
    if (typeof given !== 'object' || given === null) continue;
    if (!read.definitions.has(given)) read.definitions.set(given, [name]);
  }
  definitions = new Map([
    ...[...read.definitions.keys()].map((one) => [`${kindOf(one)} ${String(nameOf(one))}`, one] as const),
    // A function alone is a scorer, by the name of its export.
    ...(typeof value === 'function' ? [[`scorer ${message.exportName}`, { score: value }] as const] : []),
  ]);
  if (!message.describe) return null;
  const listed = (kind: string) =>
    [...read.definitions]
      .filter(([definition]) => kindOf(definition) === kind)
      .map(([definition, path]) => ({ path, given: describeDefinition(definition) }));
  return {
    kind: kindOf(value) ?? (value === undefined ? null : typeof value),
    value: read.value,
    problems: read.problems,
    tools: listed('tool'),
    scorers: listed('scorer'),
    providers: listed('provider'),
  };
}

/** A thread, for a module that hangs hears of nothing: ends this process's group when the worker is gone. */
function watchParent(): void {
  const watch = `const { workerData } = require('node:worker_threads');
    setInterval(() => {
      if (process.ppid !== workerData.parent) process.kill(-workerData.own, 'SIGKILL');
    }, 1000);`;
  const workerData = { parent: process.ppid, own: process.pid };
  new Worker(watch, { eval: true, workerData, env: {}, execArgv: [] }).unref();
}
