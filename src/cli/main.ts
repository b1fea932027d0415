import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { readSettings } from '../config/environment-variables.ts';

// Before anything large is loaded: the second start takes its code from here.
enableCompileCache(join(readSettings().cacheDir, 'compiled'));

const { runCommandLine } = await import('./program.ts');
await runCommandLine(process.argv.slice(2));
