import { hasVariable, listProcesses } from '../environments/process-table.ts';

/** Variable that everything which a module's process starts is known by. */
export const MARKER = 'ASSAY_MODULE_PROCESS';

/**
 * Ends a module's process and all that it started: its group at once, then what left the group and still carries
 * the mark (on Linux, where that can be seen).
 */
export async function endGroup(pid: number, mark: string): Promise<void> {
  kill(-pid);
  const all = await listProcesses();
  for (const entry of all) {
    if (entry.pid !== process.pid && hasVariable(entry.pid, `${MARKER}=${mark}`)) kill(entry.pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
