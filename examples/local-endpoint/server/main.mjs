// Serves the small model: node examples/local-endpoint/server/main.mjs [--port 8137]
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { createChatServer } from './chat-server.ts';
import { fetchModel } from './fetch-model.mjs';
import { loadLlamaModel } from './llama-model.mjs';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8137' } } });
const path = await fetchModel();
const model = await loadLlamaModel({ path, name: 'gemma-3-270m', contextTokens: 2048 });
const server = createChatServer(model).listen(Number(values.port), '127.0.0.1');
await once(server, 'listening');
// The one line that a program which starts this waits for.
console.log(`ready: http://127.0.0.1:${server.address().port}/v1`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
    void model.dispose().finally(() => process.exit(0));
  });
}
