// Stands for a command: sees to the stack in the folder of its argument and prints the addresses.
import { ensureStack } from '../../../src/local/stack.ts';
import { stackOptions } from '../stack-options.ts';

const { databaseUrl, temporalAddress } = await ensureStack(stackOptions(process.argv[2] ?? ''));
console.log(JSON.stringify({ databaseUrl, temporalAddress }));
