import { readKey } from './environment-variables.ts';

export type SessionLimits = {
  /** Open sessions on this host, by environment. */
  readonly capacities: { readonly [kind: string]: number };
  /** Of each kind; 0 = no limit. */
  readonly opensPerSecond: number;
};

const DEFAULTS: { readonly [kind: string]: number } = { host: 64, bubblewrap: 64, docker: 16 };

/**
 * How many sessions this host bears: `ASSAY_SESSIONS`, such as `docker=8,bubblewrap=32`, over defaults of 64,
 * 64 and 16, and `ASSAY_OPENS_PER_SECOND`. Throws an error that names the variable.
 */
export function readSessionLimits(): SessionLimits {
  const capacities = { ...DEFAULTS };
  for (const part of (readKey('ASSAY_SESSIONS') ?? '').split(',').filter((one) => one.trim() !== '')) {
    const [, kind = '', count = ''] = /^\s*([a-z]+)\s*=\s*(\d{1,6})\s*$/.exec(part) ?? [];
    if (!(kind in DEFAULTS) || Number(count) < 1) {
      const expected = `${Object.keys(DEFAULTS).join(', ')} with a number from 1, such as docker=8,bubblewrap=32`;
      throw new Error(`ASSAY_SESSIONS has "${part.trim()}"; expected ${expected}`);
    }
    capacities[kind] = Number(count);
  }
  const rate = readKey('ASSAY_OPENS_PER_SECOND') ?? '0';
  if (!/^\d+(\.\d+)?$/.test(rate)) {
    throw new Error(`ASSAY_OPENS_PER_SECOND has "${rate}"; expected a number from 0, where 0 = no limit`);
  }
  return { capacities, opensPerSecond: Number(rate) };
}
