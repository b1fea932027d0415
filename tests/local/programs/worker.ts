// Stands for the worker of a stack: says that it is ready, and ends when it is told to.
import { markWorkerReady } from '../../../src/local/worker-part.ts';

process.once('SIGTERM', () => process.exit(0));
setInterval(() => undefined, 60_000);
markWorkerReady(process.env['ASSAY_DATA_DIR'] ?? '');
