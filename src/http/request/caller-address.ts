/** The address of a caller, also behind proxies that an operator trusts. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";

export interface Network {
  readonly address: string;
  /** Leading bits that all addresses of the network share. */
  readonly bits: number;
}

export type AddressOf = (request: IncomingMessage) => string;

/**
 * Reads the network of a caller, as {@link callerNetwork}. `X-Forwarded-For` counts only when a trusted proxy sends it: each
 * proxy adds the address that called it, so the last address that is no trusted proxy is the caller. What stands before it
 * may be the caller's invention.
 */
export function addressReader(trusted: readonly Network[] = []): AddressOf {
  const isTrusted = membershipOf(trusted);
  return ({ socket, headers }) => {
    let address = withoutMapping(socket.remoteAddress ?? "");
    const named = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
    while (isTrusted(address) && named.length > 0) {
      const before = withoutMapping(withoutPort(named.pop()!.trim()));
      // A caller of a proxy that does not tell who calls it counts as that proxy.
      if (before === "") break;
      address = before;
    }
    return callerNetwork(address.slice(0, 64));
  };
}

/** Some proxies name `10.0.0.1:5000` or `[fd00::1]:5000`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text)?.slice(1).find(Boolean) ?? text;
}

/** Whether an address belongs to one of the networks; false for a text that is no address. */
function membershipOf(networks: readonly Network[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const { address, bits } of networks) list.addSubnet(address, bits, isIPv4(address) ? "ipv4" : "ipv6");
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** The address of an IPv4 caller on a listener for IPv6 (`::ffff:10.0.0.1`) without its prefix. */
function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * What stands for one caller when callers are counted: an IPv4 address, or the first 64 bits of an IPv6 address, which one
 * line of a customer has.
 */
function callerNetwork(address: string): string {
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
