import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';

/** A server for tests: `stdio`, or `http PORT-FILE`. Marks go to the file that MARKS names. */
const mark = (text: string): void => {
  const file = process.env['MARKS'];
  if (file !== undefined) appendFileSync(file, `${text}\n`);
};

function createTools(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1' });
  let count = 0;
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }),
  );
  server.registerTool('count', { description: 'Counts its calls.' }, () => ({
    content: [{ type: 'text', text: `count ${(count += 1)} in ${process.cwd()}` }],
  }));
  server.registerTool(
    'order.lookup',
    { description: 'Gives an order.', outputSchema: { id: z.number(), paid: z.boolean() } },
    () => ({ content: [], structuredContent: { id: 7, paid: true } }),
  );
  server.registerTool('picture', { description: 'Shows.' }, () => ({
    content: [{ type: 'image', data: Buffer.from('12345').toString('base64'), mimeType: 'image/png' }],
  }));
  server.registerTool('fail', { description: 'Fails.' }, () => {
    throw new Error('no such order');
  });
  server.registerTool('slow', { description: 'Takes long.' }, async () => {
    await sleep(60_000);
    return { content: [] };
  });
  server.registerTool('die', { description: 'Ends the server.' }, () => {
    const { MARKS: file, DIES_ONCE: once } = process.env;
    if (once === 'yes' && file !== undefined && readFileSync(file, 'utf8').includes('died'))
      return { content: [{ type: 'text' as const, text: 'not again' }] };
    mark('died');
    process.stderr.write('out of cheese\n');
    process.exit(3);
  });
  server.registerTool('pay', { description: 'Pays.' }, (extra) => {
    mark(`paid ${String(extra._meta?.['assay/idempotencyKey'])}`);
    return { content: [{ type: 'text', text: `key ${process.env['A_SECRET'] ?? 'none'}` }] };
  });
  return server;
}

async function serveHttp(portFile: string): Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    void (async () => {
      if (request.headers['x-key'] !== 'open sesame') return void response.writeHead(401).end('no key');
      const known = sessions.get(String(request.headers['mcp-session-id']));
      if (known !== undefined) return await known.handleRequest(request, response);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await createTools().connect(transport as Transport);
      await transport.handleRequest(request, response);
      if (request.method === 'DELETE') mark('closed');
    })();
  });
  http.on('request', (request) => {
    if (request.method === 'DELETE') mark('closed');
  });
  http.listen(0, '127.0.0.1', () => {
    const address = http.address();
    if (typeof address === 'object' && address !== null) appendFileSync(portFile, String(address.port));
  });
}

mark(`started ${process.pid}`);
if (process.argv[2] === 'http') await serveHttp(process.argv[3] ?? '');
else await createTools().connect(new StdioServerTransport());
