import { pino, type Logger } from 'pino';

/**
 * The worker's log on standard output. What cannot be written (a full disk) is lost, and the worker goes on;
 * the same holds for what libraries write to standard error.
 */
export function openLog(): Logger {
  const destination = pino.destination({ dest: 1, sync: true });
  const lose = (): void => undefined;
  destination.on('error', lose);
  process.stdout.on('error', lose);
  process.stderr.on('error', lose);
  return pino({ name: 'assay-worker', base: { pid: process.pid } }, destination);
}
