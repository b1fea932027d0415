import { pino, type Logger } from 'pino';
import { redactPatterns, type Redactor } from '../domain/redact.ts';

/**
 * The worker's log on standard output, each line without the values that `redact` knows and without what has the shape
 * of a key. What cannot be written (a full disk) is lost, and the worker goes on;
 * the same holds for what libraries write to standard error.
 */
export function openLog(redact: Redactor['redact']): Logger {
  const destination = pino.destination({ dest: 1, sync: true });
  const lose = (): void => undefined;
  destination.on('error', lose);
  process.stdout.on('error', lose);
  process.stderr.on('error', lose);
  const streamWrite = (line: string): string => redactPatterns(redact(line));
  return pino({ name: 'assay-worker', base: { pid: process.pid }, hooks: { streamWrite } }, destination);
}
