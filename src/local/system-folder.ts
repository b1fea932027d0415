import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { StackError } from './stack-error.ts';

/** A folder for files that the account of Postgres can reach, owned by root: /var/lib/assay, else /var/tmp/assay-root. */
export function ownedSystemFolder(): string {
  for (const folder of ['/var/lib/assay', '/var/tmp/assay-root']) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      chmodSync(folder, 0o755);
      if (statSync(folder).uid === 0) return folder;
    } catch {
      // The next folder may work.
    }
  }
  throw new StackError(
    'Postgres cannot run as root, and "nobody" can reach neither the project nor /var/lib/assay nor /var/tmp. ' +
      'Move the project to a folder that every user may enter, or set DATABASE_URL to a Postgres of your own.',
  );
}
