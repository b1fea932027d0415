import { toAddress } from '../providers/lookup.ts';
import type { ProxiedRequest } from '../recording-proxy/proxy-server.ts';
import { toUpstreamHeaders } from '../recording-proxy/upstream-headers.ts';
import type { Dependencies } from './dependencies.ts';
import type { CellPlace } from './run-reader.ts';

/** Where a request of an agent goes, and the key that takes the place of the agent's token. */
export function toUpstream(
  { readKey }: Pick<Dependencies, 'readKey'>,
  {
    form,
    body,
    client,
    place: { provider, model },
  }: Pick<ProxiedRequest, 'form' | 'body' | 'client'> & { readonly place: CellPlace },
) {
  const apiKey = provider.apiKeyEnv === null ? null : readKey(provider.apiKeyEnv);
  const path = form.toUpstreamPath?.(body, model.model) ?? form.path;
  return {
    url: `${toAddress(provider).replace(/\/+$/, '')}${path}`,
    headers: toUpstreamHeaders(form, client.request.headers, apiKey),
    apiKey,
  };
}
