/** TLS of the gRPC listener. A renewed certificate is used without a restart. */
import { ServerCredentials } from "@grpc/grpc-js";
import { clientPolicyOf, secureContextOf, type TlsSource } from "../domain/tls.ts";

/** Credentials for plaintext when `tls` is null. */
export function serverCredentials(tls: TlsSource | null): ServerCredentials {
  return tls === null ? ServerCredentials.createInsecure() : new RenewedCredentials(tls);
}

/** Credentials whose certificate can be replaced. The credentials of the library cannot change. */
class RenewedCredentials extends ServerCredentials {
  constructor(tls: TlsSource) {
    super(clientPolicyOf(tls.current), secureContextOf(tls.current));
    tls.onRenewal((material) => this.updateSecureContextOptions(secureContextOf(material)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
