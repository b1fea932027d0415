import type Docker from 'dockerode';

/** Told while an image is pulled, at most every 2 s. */
export type PullProgress = (line: string) => void;

const TELL_EVERY_MS = 2_000;

/**
 * The exact name of an image: its digest in a registry, or the id of one that only this engine has. Pulled
 * when it is not there. Throws an error that says what to do.
 */
export async function resolveImage(docker: Docker, image: string, tell: PullProgress): Promise<string> {
  const found = (await inspectImage(docker, image)) ?? (await pullAndInspect(docker, image, tell));
  return found.RepoDigests?.[0] ?? found.Id;
}

/** Makes sure that an image of a plan is on this engine, which may be another than the one that planned. */
export async function ensureImage(
  docker: Docker,
  image: string,
  tell: PullProgress,
): Promise<Docker.ImageInspectInfo> {
  return (await inspectImage(docker, image)) ?? (await pullAndInspect(docker, image, tell));
}

async function pullAndInspect(
  docker: Docker,
  image: string,
  tell: PullProgress,
): Promise<Docker.ImageInspectInfo> {
  const local = image.startsWith('sha256:');
  try {
    if (local) throw new Error('an image without a name in a registry');
    await pull(docker, image, tell);
    const pulled = await inspectImage(docker, image);
    if (pulled === null) throw new Error('it was pulled and is not there');
    return pulled;
  } catch (error) {
    const hint = local
      ? 'load or build it on this host'
      : `run "docker pull ${image}", or correct the name, or build it`;
    throw new Error(
      `image "${image}" is not on the docker engine and cannot be pulled: ${(error as Error).message}; ${hint}`,
      {
        cause: error,
      },
    );
  }
}

async function inspectImage(docker: Docker, image: string): Promise<Docker.ImageInspectInfo | null> {
  try {
    return await docker.getImage(image).inspect();
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

type PullEvent = {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
};

async function pull(docker: Docker, image: string, tell: PullProgress): Promise<void> {
  const stream = await docker.pull(image);
  const layers = new Map<string, { current: number; total: number }>();
  let toldAt = 0;
  const onProgress = ({ id, status, progressDetail }: PullEvent): void => {
    if (id !== undefined && status === 'Downloading') {
      layers.set(id, { current: progressDetail?.current ?? 0, total: progressDetail?.total ?? 0 });
    }
    if (Date.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = Date.now();
    const sum = [...layers.values()].reduce(
      (all, one) => ({ current: all.current + one.current, total: all.total + one.total }),
      { current: 0, total: 0 },
    );
    tell(`pulling ${image}: ${toMegabytes(sum.current)} of ${toMegabytes(sum.total)} MB`);
  };
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null) => (error === null ? resolve() : reject(error)),
      onProgress,
    );
  });
}

const toMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Whether the engine answered with this status. */
export const isStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  statuses.includes((error as { statusCode?: number }).statusCode ?? 0);
