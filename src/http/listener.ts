/** An HTTP listener, with TLS where it is configured. A renewed certificate is used without a restart. */
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { clientPolicyOf, secureContextOf, type TlsSource } from "../domain/tls.ts";

/** A server that does not listen yet. Without `tls` it speaks plaintext. */
export function createListener(tls: TlsSource | null, options: ServerOptions, handle: RequestListener): Server {
  if (tls === null) return createServer(options, handle);
  const { current } = tls;
  const server = createSecureServer({ ...options, ...clientPolicyOf(current), ...secureContextOf(current) }, handle);
  tls.onRenewal((material) => server.setSecureContext(secureContextOf(material)));
  return server;
}
