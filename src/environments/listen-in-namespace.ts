import { createServer } from 'node:net';

/** Started inside another network namespace by `namespace-listener.ts`: opens a socket and hands it over. */
const server = createServer();
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  process.send?.('listening', server, { keepOpen: false }, () => process.disconnect());
});
