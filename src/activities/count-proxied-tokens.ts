import { exchange } from '../providers/exchange.ts';
import { ProviderError, toProviderError } from '../providers/provider-error.ts';
import { toWireError } from '../recording-proxy/failure-error.ts';
import { toAgentHeaders } from '../recording-proxy/pass-through.ts';
import type { ProxiedRequest } from '../recording-proxy/proxy-server.ts';
import type { Dependencies } from './dependencies.ts';
import type { CellPlace } from './run-reader.ts';
import { toUpstream } from './upstream.ts';

const LIMIT_MS = 30_000;
const BYTES_PER_TOKEN = 4;

/** Anthropic's count of a request's tokens, which costs nothing; other providers have none: it is estimated. */
export async function countProxiedTokens(
  dependencies: Dependencies,
  counted: ProxiedRequest & { readonly place: CellPlace },
): Promise<void> {
  const { form, body, search, client, place } = counted;
  const { provider, model } = place;
  const sent = JSON.stringify({ ...body, model: model.model });
  if (!form.kinds.includes(provider.kind))
    return client.sendJson(200, { input_tokens: Math.ceil(Buffer.byteLength(sent) / BYTES_PER_TOKEN) });
  const upstream = toUpstream(dependencies, counted);
  const counting = exchange({
    url: `${upstream.url}/count_tokens${search}`,
    method: 'POST',
    headers: upstream.headers,
    body: sent,
    timeouts: { ...provider.timeouts, totalMs: LIMIT_MS },
    signal: client.gone,
  });
  const answer = await counting.catch((error: unknown) => toProviderError(error, { now: Date.now() }));
  if (answer instanceof ProviderError) return client.sendError(form, toWireError(answer.classified));
  client.response
    .writeHead(answer.status, toAgentHeaders(answer.headers))
    .end(dependencies.redact(answer.body));
}
