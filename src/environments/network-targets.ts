import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { parseNetworkTarget, type NetworkTarget } from '../domain/network-policy.ts';

/** Where a request may go: the address to connect to, or null = nowhere. */
export type Admit = (host: string, port: number) => Promise<string | null>;

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Names are matched as they were asked for; ranges and addresses against what the name resolves to, here and
 * once, so that the connection goes to the address that was looked at.
 */
export function createAdmission(allow: readonly string[]): Admit {
  const targets = allow.map(parseNetworkTarget).filter((target) => target !== null);
  return async (asked, port) => {
    const host = asked
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '');
    const open = targets.filter((target) => target.port === null || target.port === port);
    const byName = open.some((target) => matchesName(target, host));
    const numeric = isIP(host) !== 0;
    if (!byName && !open.some(({ kind }) => kind === 'address' || kind === 'range')) return null;
    const addresses = numeric ? [host] : (await lookup(host, { all: true })).map(({ address }) => address);
    if (byName) return addresses[0] ?? null;
    const list = toBlockList(open);
    return addresses.find((address) => list.check(address, family(address))) ?? null;
  };
}

function matchesName(target: NetworkTarget, host: string): boolean {
  if (target.kind === 'name') return target.host === host;
  // `*.example.com` stands for every name below it, at any depth, and not for itself.
  return (
    target.kind === 'wildcard' && host.endsWith(target.host.slice(1)) && host.length > target.host.length - 1
  );
}

function toBlockList(targets: readonly NetworkTarget[]): BlockList {
  const list = new BlockList();
  for (const { kind, host } of targets) {
    if (kind === 'address') list.addAddress(host, family(host));
    if (kind !== 'range') continue;
    const [address = '', bits = ''] = host.split('/');
    list.addSubnet(address, Number(bits), family(address));
  }
  return list;
}
