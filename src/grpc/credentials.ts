/** TLS of the gRPC listener, renewed without a restart. */
import { ServerCredentials } from "@grpc/grpc-js";
import { clientPolicyOf, secureContextOf, type TlsSource } from "../domain/tls.ts";

/** Null speaks plaintext. */
export function serverCredentials(tls: TlsSource | null): ServerCredentials {
  return tls === null ? ServerCredentials.createInsecure() : new RenewedCredentials(tls);
}

/** Those of the library are made of files that never change. */
class RenewedCredentials extends ServerCredentials {
  constructor(tls: TlsSource) {
    super(clientPolicyOf(tls.current), secureContextOf(tls.current));
    tls.onRenewal((material) => this.updateSecureContextOptions(secureContextOf(material)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
