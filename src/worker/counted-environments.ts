import type { SessionLimits } from '../config/session-limits.ts';
import type { EnvironmentProvider } from '../environments/environment.ts';
import { SessionSlots } from './session-slots.ts';

export type CountedEnvironment = { readonly provider: EnvironmentProvider; readonly slots: SessionSlots };

/** Providers whose open sessions take the places of this host. */
export const countSessions = (
  providers: readonly EnvironmentProvider[],
  { capacities, opensPerSecond }: SessionLimits,
): readonly CountedEnvironment[] =>
  providers.map((provider) => {
    const limits = { capacity: capacities[provider.kind] ?? 1, opensPerSecond };
    const slots = new SessionSlots(limits, { leads: false });
    return { slots, provider: withSlots(provider, slots) };
  });

const withSlots = (provider: EnvironmentProvider, slots: SessionSlots): EnvironmentProvider => ({
  ...provider,
  // Whoever looks: a run that is prepared, the reaper, the lease of the host.
  describe: async () => {
    const abilities = await provider.describe();
    slots.setAvailable(abilities.problem === null);
    return abilities;
  },
  open: async (request) => {
    const session = await provider.open(request);
    slots.hold(request.sessionId);
    return session;
  },
  close: async (handle) => {
    await provider.close(handle);
    slots.free(handle.sessionId);
  },
});
