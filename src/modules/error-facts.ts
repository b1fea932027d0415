import type { ErrorFacts } from './child-messages.ts';

const MESSAGE_LIMIT = 4_000;
const MAX_FRAMES = 6;

/** What can be said of anything that was thrown; `url` is the module's own address. */
export function toErrorFacts(thrown: unknown, url: string | null): ErrorFacts {
  if (!(thrown instanceof Error)) {
    return { name: 'Error', message: cut(show(thrown)), code: null, frames: [], retryable: false };
  }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
  return {
    name: thrown.name,
    message: cut(clean(thrown.message, url)),
    code,
    frames: listFrames(thrown.stack ?? '', url),
    retryable: 'retryable' in thrown && thrown.retryable === true,
  };
}

function show(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return 'a value that cannot be shown';
  }
}

/** Frames of the module, with file and line of its sources. */
function listFrames(stack: string, url: string | null): readonly string[] {
  if (url === null) return [];
  const folder = new URL('.', url).href;
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && line.includes(folder.slice('file://'.length)))
    .filter((line) => !line.includes('/node_modules/'))
    .slice(0, MAX_FRAMES)
    .map((line) => clean(line.trim(), url));
}

/** Paths as seen from the module's folder, without what the loader added to its address. */
function clean(text: string, url: string | null): string {
  if (url === null) return text;
  const folder = new URL('.', url);
  return text
    .replaceAll(/\?assay=[0-9a-f]+/g, '')
    .replaceAll(folder.href, '')
    .replaceAll(decodeURIComponent(folder.pathname), '');
}

const cut = (text: string): string =>
  text.length <= MESSAGE_LIMIT ? text : `${text.slice(0, MESSAGE_LIMIT - 1)}…`;

/** One line of an error as outcomes and observations show it: `TypeError: x is not a function (at run.ts:3:9)`. */
export function formatError({ name, message, frames }: ErrorFacts): string {
  const text = name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`;
  const place = /\(?([^\s()]+:\d+:\d+)\)?$/.exec(frames[0] ?? '')?.[1];
  return place === undefined ? text : `${text} (at ${place})`;
}
