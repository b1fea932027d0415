import type { IncomingHttpHeaders } from 'node:http';
import type { WireForm } from './wire-form.ts';

/** What is the connection's, the agent's place, or a key. */
const DROPPED = new Set([
  'accept-encoding',
  'api-key',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'x-goog-api-key',
]);

const KEYS = new Set(['authorization', 'x-api-key']);

/** The agent's headers, so that versions and features that it asks for hold, with the provider's key. */
export function toUpstreamHeaders(
  form: WireForm,
  given: IncomingHttpHeaders,
  apiKey: string | null,
): { readonly [name: string]: string } {
  const own = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || DROPPED.has(name) || name.startsWith('x-forwarded-')) return [];
    return [[name, Array.isArray(value) ? value.join(', ') : value] as const];
  });
  const headers: { [name: string]: string } = {
    'content-type': 'application/json',
    ...Object.fromEntries(own),
  };
  for (const [name, value] of Object.entries(form.toHeaders(apiKey))) {
    if (KEYS.has(name) || headers[name] === undefined) headers[name] = value;
  }
  return headers;
}
