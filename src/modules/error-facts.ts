import type { ErrorFacts } from './child-messages.ts';

const MESSAGE_LIMIT = 4_000;
const MAX_FRAMES = 6;
const MAX_CAUSES = 5;

/** What can be said of anything that was thrown; `url` is the module's own address. */
export function toErrorFacts(thrown: unknown, url: string | null, depth = 0): ErrorFacts {
  if (!(thrown instanceof Error)) return { ...NOTHING, message: cut(show(thrown)) };
  const { code, status, headers, retryable } = thrown as { [name: string]: unknown } & Error;
  return {
    name: thrown.name,
    message: cut(clean(thrown.message, url)),
    code: typeof code === 'string' ? code : null,
    frames: listFrames(thrown.stack ?? '', url),
    retryable: retryable === true,
    status: typeof status === 'number' ? status : null,
    headers: readHeaders(headers),
    cause:
      thrown.cause === undefined || depth >= MAX_CAUSES ? null : toErrorFacts(thrown.cause, url, depth + 1),
  };
}

const NOTHING: ErrorFacts = {
  name: 'Error',
  message: '',
  code: null,
  frames: [],
  retryable: false,
  status: null,
  headers: null,
  cause: null,
};

/** `Headers`, or a plain record. */
function readHeaders(headers: unknown): ErrorFacts['headers'] {
  if (typeof headers !== 'object' || headers === null) return null;
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The error again, on the other side. */
export function toError({ message, name, code, status, headers, cause }: ErrorFacts): Error {
  const error = new Error(message, cause === null ? {} : { cause: toError(cause) });
  return Object.assign(error, {
    name,
    ...(code === null ? {} : { code }),
    ...(status === null ? {} : { status }),
    ...(headers === null ? {} : { headers }),
  });
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
