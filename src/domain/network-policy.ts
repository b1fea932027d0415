/** What a session may reach. */
export type NetworkPolicy =
  | { readonly mode: 'public' }
  | { readonly mode: 'none' }
  /** Targets as `parseNetworkTarget` reads them; through a proxy, with names resolved outside. */
  | { readonly mode: 'allowlist'; readonly allow: readonly string[] };

/** The policy of each phase of an attempt. */
export type NetworkPhases = {
  /** Opening, files, setup. */
  readonly baseline: NetworkPolicy;
  /** The agent. */
  readonly run: NetworkPolicy;
  /** Scorers. */
  readonly evaluation: NetworkPolicy;
};

export const PUBLIC: NetworkPolicy = { mode: 'public' };
export const ALL_PUBLIC: NetworkPhases = { baseline: PUBLIC, run: PUBLIC, evaluation: PUBLIC };

/** One entry of an allowlist. */
export type NetworkTarget = {
  /** A host name, `*.` and a host name, an address, or an address range (CIDR); in lower case. */
  readonly host: string;
  readonly kind: 'name' | 'wildcard' | 'address' | 'range';
  /** Null = any port. */
  readonly port: number | null;
};

const LABEL = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);
const V4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const V6 = /^[0-9a-f:]*:[0-9a-f:.]*$/;

/** `host`, `*.host`, an address or a CIDR range, each with `:port` at the end if wanted (`[v6]:port`). Null = unreadable. */
export function parseNetworkTarget(text: string): NetworkTarget | null {
  const { host, port } = splitPort(text.trim().toLowerCase());
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const [address = '', bits, ...rest] = host.split('/');
  if (rest.length > 0) return null;
  const isV4 = V4.test(address) && address.split('.').every((part) => Number(part) < 256);
  const isV6 = V6.test(address) && address.split('::').length <= 2;
  if (isV4 || isV6) return toAddress({ host, bits, maxBits: isV4 ? 32 : 128, port });
  if (bits !== undefined || !NAME.test(host) || V4.test(host)) return null;
  return { host, kind: host.startsWith('*.') ? 'wildcard' : 'name', port };
}

function toAddress(found: {
  readonly host: string;
  readonly bits: string | undefined;
  readonly maxBits: number;
  readonly port: number | null;
}): NetworkTarget | null {
  const { host, bits, maxBits, port } = found;
  if (bits === undefined) return { host, kind: 'address', port };
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > maxBits) return null;
  return { host, kind: 'range', port };
}

function splitPort(text: string): { readonly host: string; readonly port: number | null } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(text);
  if (bracketed !== null) {
    return { host: bracketed[1] ?? '', port: bracketed[2] === undefined ? null : Number(bracketed[2]) };
  }
  const plain = /^([^:]*):(\d+)$/.exec(text);
  return plain === null ? { host: text, port: null } : { host: plain[1] ?? '', port: Number(plain[2]) };
}

/** Whether going from one policy to another takes something away. */
export function isNarrower(to: NetworkPolicy, from: NetworkPolicy): boolean {
  if (to.mode === 'public') return false;
  if (from.mode === 'public') return true;
  if (to.mode === 'none') return from.mode !== 'none';
  return from.mode === 'allowlist' && from.allow.some((target) => !to.allow.includes(target));
}
