import { spawn } from 'node:child_process';

/** Starts what the agents' commands start, by itself. */
export const startBash = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', 'true'], { stdio: 'ignore', detached: true });
    child.once('error', reject).once('exit', () => resolve());
  });
