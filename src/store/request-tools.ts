import type { McpTool } from '../domain/mcp-server.ts';
import { loadBlob, saveBlob, toJsonBlob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

export type RequestPlace = { readonly runId: string; readonly requestIndex: number };

/** Keeps the tools of a server for a request; the first list that comes wins. */
export async function recordServerTools(
  db: Db,
  { runId, requestIndex }: RequestPlace,
  { server, tools }: { readonly server: string; readonly tools: readonly McpTool[] },
): Promise<void> {
  const digest = await saveBlob(db, toJsonBlob(tools).bytes);
  await db.query({
    text: `insert into request_tools (run_id, request_index, server, digest) values ($1, $2, $3, $4)
      on conflict do nothing`,
    values: [runId, requestIndex, server, digest],
  });
}

/** The recorded tools of a request's servers, by the name of the server. */
export async function loadServerTools(
  db: Db,
  { runId, requestIndex }: RequestPlace,
): Promise<ReadonlyMap<string, readonly McpTool[]>> {
  const rows = await selectRows<{ server: string; digest: string }>(db, {
    text: 'select server, digest from request_tools where run_id = $1 and request_index = $2',
    values: [runId, requestIndex],
  });
  const lists = await Promise.all(
    rows.map(async ({ server, digest }) => {
      const tools = JSON.parse((await loadBlob(db, digest)).toString('utf8')) as readonly McpTool[];
      return [server, tools] as const;
    }),
  );
  return new Map(lists);
}
