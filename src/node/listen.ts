/**
 * Opens and closes listeners. Errors say how to choose another address; a closing listener lets requests in flight
 * finish.
 */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "../settings/values.ts";
import { MillraceError } from "../domain/errors.ts";

/**
 * Connections that wait to be accepted; the system may allow fewer. Beyond them the system drops a caller's first packet,
 * and the caller tries again after 1, 3, 7 and 15 s: with Node's default of 511, a caller who opens a thousand connections at
 * once would keep all others waiting.
 */
const BACKLOG = 4_096;

/**
 * Starts to listen, and resolves with `host:port` to connect to; for port 0 it names the port that the system chose.
 * Rejects as {@link cannotListen} says. `variable` is the setting of the address, which the error names.
 */
export function listen(server: Server, address: Address, variable: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(cannotListen(address, variable, error));
    server.once("error", refuse);
    const { host, port } = address;
    server.listen({ port, backlog: BACKLOG, ...(host === "" ? {} : { host }) }, () => {
      server.off("error", refuse);
      resolve(reachableAddress({ host, port: (server.address() as AddressInfo).port }));
    });
  });
}

/**
 * The error for an address that cannot be used: `conflict` for a port in use, else `unavailable`. Both say what to
 * change.
 */
export function cannotListen({ host, port }: Address, variable: string, cause: NodeJS.ErrnoException): MillraceError {
  const where = host === "" ? "" : ` on ${host}`;
  if (cause.code === "EADDRINUSE") {
    const text = `port ${port}${where} is in use: end the program that uses it, or choose another address with ${variable}=${host}:PORT`;
    return new MillraceError("conflict", text, { cause });
  }
  const text = `cannot listen on port ${port}${where} (${cause.code ?? cause.message}): ${remedy(variable, cause.code)}`;
  return new MillraceError("unavailable", text, { cause });
}

function remedy(variable: string, code: string | undefined): string {
  switch (code) {
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `this machine has no such address; choose one of its own with ${variable}=HOST:PORT`;
    case "EACCES":
      return `this user may not listen there; choose a port from 1024 on with ${variable}=HOST:PORT`;
    default:
      return `choose another address with ${variable}=HOST:PORT`;
  }
}

/** `host:port` to bind to. An empty host in {@link Address} means all interfaces, which is written `0.0.0.0`. */
export function bindingAddress({ host, port }: Address): string {
  return join(host === "" ? "0.0.0.0" : host, port);
}

/** `host:port` to connect to. For a listener on all interfaces it names the loopback address. */
export function reachableAddress({ host, port }: Address): string {
  return join(["", "0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host, port);
}

const join = (host: string, port: number) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Stops to accept connections, and closes those that are still open after `graceMs`. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
