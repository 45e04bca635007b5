/** An HTTP listener, with TLS where it is configured. A renewed certificate is used without a restart. */
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { clientPolicyOf, secureContextOf, type TlsSource } from "../../domain/tls.ts";

/** A server that does not listen yet. Without `tls` it speaks plaintext. */
export function createListener(tls: TlsSource | null, options: ServerOptions, handle: RequestListener): Server {
  if (tls === null) return createServer(options, handle);
  const { current } = tls;
  const server = createSecureServer({ ...options, ...clientPolicyOf(current), ...secureContextOf(current) }, handle);
  tls.onRenewal((material) => server.setSecureContext(secureContextOf(material)));
  return server;
}

/** The address of a listener, for callers on this machine when it listens on all interfaces. */
export function listenerUrl(server: Server, isSecure: boolean): string {
  const { address, port } = (server.address() as AddressInfo | null) ?? { address: "127.0.0.1", port: 0 };
  const host = ["::", "0.0.0.0"].includes(address) ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
  return new URL(`${isSecure ? "https" : "http"}://${host}:${port}`).origin;
}
