/** The address of a caller, also behind proxies that an operator trusts. */
import type { IncomingMessage } from "node:http";
import { callerNetwork, membershipOf, type Network, withoutMapping } from "../domain/networks.ts";

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
