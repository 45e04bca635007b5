/** Listeners: opened with an error that tells how to choose another address, closed with time for what is under way. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "../config-values.ts";
import { MillraceError } from "../domain/errors.ts";

/** Resolves with `host:port`, the port as chosen when 0 was asked for. `variable` sets the address, for the error's text. */
export function listen(server: Server, address: Address, variable: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(cannotListen(address, variable, error));
    server.once("error", refuse);
    server.listen({ port: address.port, ...(address.host === "" ? {} : { host: address.host }) }, () => {
      server.off("error", refuse);
      resolve(reachableAddress({ host: address.host, port: (server.address() as AddressInfo).port }));
    });
  });
}

/** `conflict` for a port in use, else `unavailable`; both say what to change. */
export function cannotListen({ host, port }: Address, variable: string, cause: NodeJS.ErrnoException): MillraceError {
  const where = host === "" ? "" : ` on ${host}`;
  const choose = `choose another address with ${variable}=${host}:PORT`;
  return cause.code === "EADDRINUSE"
    ? new MillraceError("conflict", `port ${port}${where} is in use: end the program that uses it, or ${choose}`, {
        cause,
      })
    : new MillraceError(
        "unavailable",
        `cannot listen on port ${port}${where} (${cause.code ?? cause.message}): ${choose}`,
        {
          cause,
        },
      );
}

/** `host:port`; every interface, for which there is no name in {@link Address}, is spelled out. */
export function bindingAddress({ host, port }: Address): string {
  return join(host === "" ? "0.0.0.0" : host, port);
}

/** `host:port` to connect to; what listens on every interface is reached over loopback. */
export function reachableAddress({ host, port }: Address): string {
  return join(["", "0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host, port);
}

const join = (host: string, port: number) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Accepts nothing more; requests in flight get `graceMs` to end. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
