import type { EnvironmentProvider } from './environment.ts';
import { createHostEnvironment } from './host.ts';
import type { HostOptions } from './host.ts';

export type Environments = { readonly host: EnvironmentProvider };

/** The environments of one worker. */
export const createEnvironments = (options: { readonly host: HostOptions }): Environments => ({
  host: createHostEnvironment(options.host),
});

/** Null for a kind without a provider. */
export function findEnvironment(environments: Environments, kind: string): EnvironmentProvider | null {
  switch (kind) {
    case 'host':
      return environments.host;
    default:
      return null;
  }
}
