/** What a listener proves who it is with, and how it learns that this has been renewed. */

export interface TlsMaterial {
  /** PEM: the listener's certificate, and the chain up to an authority that its callers know. */
  readonly certificate: Buffer;
  /** PEM. */
  readonly privateKey: Buffer;
  /** PEM: who signs the certificates that callers must show; null asks none of them. */
  readonly clientAuthorities: Buffer | null;
}

export interface TlsSource {
  readonly current: TlsMaterial;
  /** Connections that exist keep what they began with. */
  onRenewal(listener: (material: TlsMaterial) => void): void;
}

/** As the listeners of `node:tls` take it. */
export function secureContextOf({ certificate, privateKey, clientAuthorities }: TlsMaterial) {
  return { cert: certificate, key: privateKey, ...(clientAuthorities === null ? {} : { ca: clientAuthorities }) };
}

/** Fixed when the listener is made: a renewal changes authorities, never whether callers are asked. */
export function clientPolicyOf({ clientAuthorities }: TlsMaterial) {
  return { requestCert: clientAuthorities !== null, rejectUnauthorized: clientAuthorities !== null };
}
