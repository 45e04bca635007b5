/** Networks of addresses, as operators write them: `10.0.0.0/8`, `fd00::/8`, or one address. */
import { BlockList, isIP, isIPv4 } from "node:net";

export interface Network {
  readonly address: string;
  /** Leading bits that all addresses of the network share. */
  readonly bits: number;
}

/** Undefined for a text that is no network. */
export function parseNetwork(text: string): Network | undefined {
  const [address, bits, ...rest] = text.split("/") as [string, ...string[]];
  if (isIP(address) === 0 || rest.length > 0) return undefined;
  const most = isIPv4(address) ? 32 : 128;
  if (bits === undefined) return { address, bits: most };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, bits: Number(bits) } : undefined;
}

/** Whether an address belongs to one of the networks; false for a text that is no address. */
export function membershipOf(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, bits } of networks) list.addSubnet(address, bits, isIPv4(address) ? "ipv4" : "ipv6");
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** The address of an IPv4 caller on a listener for IPv6 (`::ffff:10.0.0.1`) without its prefix. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * What stands for one caller when callers are counted: an IPv4 address, or the first 64 bits of an IPv6 address, which one
 * line of a customer has.
 */
export function callerNetwork(address: string): string {
  if (isIPv4(address) || isIP(address) === 0) return address;
  const [head, tail] = address.split("%", 1)[0]!.toLowerCase().split("::") as [string, string?];
  const first = head === "" ? [] : head.split(":");
  const missing = tail === undefined ? 0 : 8 - first.length - (tail === "" ? 0 : tail.split(":").length);
  const groups = [...first, ...Array.from({ length: Math.max(0, missing) }, () => "0"), ...(tail ?? "").split(":")];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}
