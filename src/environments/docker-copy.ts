import type Docker from 'dockerode';
import { startInContainer } from './docker-exec.ts';
import { SANDBOX_WORK } from './sandbox-session.ts';

type Way = { readonly from: Docker.Container; readonly to: Docker.Container };

/** Copies the working directory of one container into another's, with owners and modes. */
export async function copyFiles(way: Way, { inMemory }: { readonly inMemory: boolean }): Promise<void> {
  if (inMemory) return await copyThroughPrograms(way);
  const archive = await way.from.getArchive({ path: `${SANDBOX_WORK}/.` });
  await way.to.putArchive(archive, { path: SANDBOX_WORK });
}

/** The engine does not see into files in memory, so `tar` of the image packs and unpacks them. */
async function copyThroughPrograms({ from, to }: Way): Promise<void> {
  const root = { cwd: '/', variables: {}, user: '0' };
  const packed = await startInContainer(
    from,
    { ...root, argv: ['tar', '-C', SANDBOX_WORK, '-cf', '-', '.'] },
    null,
  );
  const unpacked = await startInContainer(
    to,
    { ...root, argv: ['tar', '-C', SANDBOX_WORK, '-xpf', '-'] },
    packed.stdout,
  );
  unpacked.stdout.resume();
  for (const { exitCode, errorText } of await Promise.all([packed.ended, unpacked.ended])) {
    if (exitCode !== 0) throw new Error(`the files cannot be copied: ${errorText.trim()}`);
  }
}
