/** Certificate and key that a listener presents to its callers, and their renewal. */

export interface TlsMaterial {
  /** PEM: the listener's certificate, and the chain up to an authority that its callers know. */
  readonly certificate: Buffer;
  /** PEM. */
  readonly privateKey: Buffer;
  /** PEM: the authorities that sign the certificates of callers; null when callers need no certificate. */
  readonly clientAuthorities: Buffer | null;
}

export interface TlsSource {
  readonly current: TlsMaterial;
  /** Calls `listener` with renewed material. Open connections keep the material with which they began. */
  onRenewal(listener: (material: TlsMaterial) => void): void;
}

/** The options with which listeners of `node:tls` take the material. */
export function secureContextOf({ certificate, privateKey, clientAuthorities }: TlsMaterial) {
  return { cert: certificate, key: privateKey, ...(clientAuthorities === null ? {} : { ca: clientAuthorities }) };
}

/**
 * The options that are fixed when the listener is made: a renewal can change the authorities, not whether callers need
 * a certificate.
 */
export function clientPolicyOf({ clientAuthorities }: TlsMaterial) {
  return { requestCert: clientAuthorities !== null, rejectUnauthorized: clientAuthorities !== null };
}
