/**
 * Which addresses requests to others may reach. Users choose the receivers, so a receiver must not be this machine, its
 * network or a service of its provider, unless the operator allows it. Pure.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

export interface Network {
  readonly address: string;
  /** Leading bits that all addresses of the network share. */
  readonly bits: number;
}

/** Source: the special-purpose address registries of IANA (RFC 6890), as of 2025. */
const SPECIAL_IPV4: readonly Network[] = [
  { address: "0.0.0.0", bits: 8 },
  { address: "10.0.0.0", bits: 8 },
  { address: "100.64.0.0", bits: 10 },
  { address: "127.0.0.0", bits: 8 },
  { address: "169.254.0.0", bits: 16 },
  { address: "172.16.0.0", bits: 12 },
  { address: "192.0.0.0", bits: 24 },
  { address: "192.0.2.0", bits: 24 },
  { address: "192.88.99.0", bits: 24 },
  { address: "192.168.0.0", bits: 16 },
  { address: "198.18.0.0", bits: 15 },
  { address: "198.51.100.0", bits: 24 },
  { address: "203.0.113.0", bits: 24 },
  { address: "224.0.0.0", bits: 4 },
  { address: "240.0.0.0", bits: 4 },
];
/** Only these addresses of IPv6 are of the public internet. */
const PUBLIC_IPV6: Network = { address: "2000::", bits: 3 };
/** Some of the public ones stand for others: tunnels, which may lead to any address of IPv4, and examples. */
const SPECIAL_IPV6: readonly Network[] = [
  { address: "2001::", bits: 23 },
  { address: "2001:db8::", bits: 32 },
  { address: "2002::", bits: 16 },
  { address: "3fff::", bits: 20 },
];

export type AddressRule = (address: string) => boolean;

/** Whether requests may go to an address: a public one, or one of the allowed networks. False for no address. */
export function addressRule(allowed: readonly Network[]): AddressRule {
  const isAllowed = networkRule(allowed);
  const isSpecialIPv4 = membershipOf(SPECIAL_IPV4);
  const isSpecialIPv6 = membershipOf(SPECIAL_IPV6);
  const isPublicIPv6 = membershipOf([PUBLIC_IPV6]);
  return (given) => {
    const address = plainAddress(given);
    if (isIP(address) === 0) return false;
    if (isAllowed(address)) return true;
    return isIPv4(address) ? !isSpecialIPv4(address) : isPublicIPv6(address) && !isSpecialIPv6(address);
  };
}

/** Whether an address is in one of these networks. False for no address. */
export function networkRule(networks: readonly Network[]): AddressRule {
  const isMember = membershipOf(networks);
  return (given) => {
    const address = plainAddress(given);
    return isIP(address) !== 0 && isMember(address);
  };
}

/** Without the zone of an address, and without the prefix of one of IPv4 that is written as one of IPv6. */
function plainAddress(given: string): string {
  return withoutMapping(given.split("%", 1)[0]!);
}

function membershipOf(networks: readonly Network[]): AddressRule {
  const list = new BlockList();
  for (const { address, bits } of networks) list.addSubnet(address, bits, isIPv4(address) ? "ipv4" : "ipv6");
  return (address) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** An address of IPv4 that is written as one of IPv6, in either spelling, without its prefix. */
function withoutMapping(address: string): string {
  const [, dotted, high, low] =
    /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  const bits = Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}
