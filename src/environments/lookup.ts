import { createBubblewrapEnvironment, type BubblewrapOptions } from './bubblewrap.ts';
import { createDockerEnvironment, type DockerOptions } from './docker.ts';
import type { EnvironmentProvider } from './environment.ts';
import { createHostEnvironment, type HostOptions } from './host.ts';

export type EnvironmentsOptions = {
  readonly host: HostOptions;
  readonly bubblewrap: BubblewrapOptions;
  readonly docker: DockerOptions;
};

/** The environments of one worker. */
export const createEnvironments = (options: EnvironmentsOptions): readonly EnvironmentProvider[] => [
  createHostEnvironment(options.host),
  createBubblewrapEnvironment(options.bubblewrap),
  createDockerEnvironment(options.docker),
];
