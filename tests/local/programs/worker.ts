// Stands for the worker of a stack: says that it is ready, watches its stack, and ends when it is told to.
import { watchUse } from '../../../src/local/watch-use.ts';
import { markWorkerReady } from '../../../src/local/worker-part.ts';

const dataDir = process.env['ASSAY_DATA_DIR'] ?? '';
process.once('SIGTERM', () => process.exit(0));
markWorkerReady(dataDir);
const { signal } = new AbortController();
await watchUse({ dataDir, openRuns: async () => 0, drain: async () => undefined, signal, intervalMs: 500 });
process.exit(0);
