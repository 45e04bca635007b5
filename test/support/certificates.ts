/**
 * X.509 certificates for tests, made and signed in this file: authorities, servers and clients on P-256, valid since
 * yesterday.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateOptions {
  /** The common name. Clients match a server's certificate by its addresses instead: `localhost` and 127.0.0.1. */
  readonly name: string;
  /** The authority that signs. Without an issuer, the certificate is an authority that signs itself. */
  readonly issuer?: Certificate;
  /** Days from now until the certificate expires; default 1. A negative number makes an expired certificate. */
  readonly days?: number;
}

const DAY_MS = 86_400_000;
const OID = {
  commonName: [2, 5, 4, 3],
  basicConstraints: [2, 5, 29, 19],
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
};

export function makeCertificate({ name, issuer, days = 1 }: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const isAuthority = issuer === undefined;
  const altNames = [tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1]))];
  const extensions = isAuthority
    ? [
        extension(OID.basicConstraints, sequence(tagged(0x01, Buffer.from([0xff])))),
        // keyCertSign.
        extension(OID.keyUsage, tagged(0x03, Buffer.from([2, 0b100]))),
      ]
    : [extension(OID.subjectAltName, sequence(...altNames))];
  const now = Date.now();
  const toBeSigned = sequence(
    tagged(0xa0, tagged(0x02, Buffer.of(2))),
    // The serial number; its first byte keeps it positive.
    tagged(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguished(issuer?.name ?? name),
    sequence(time(Math.min(now, now + days * DAY_MS) - DAY_MS), time(now + days * DAY_MS)),
    distinguished(name),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", toBeSigned, issuer?.privateKey ?? privateKey);
  const der = sequence(toBeSigned, algorithm, tagged(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = der.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    name,
    privateKey,
  };
}

// DER, ITU-T X.690.

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const arcs = rest.flatMap((arc) => {
    const sevens = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) sevens.unshift((left & 0x7f) | 0x80);
    return sevens;
  });
  return tagged(0x06, Buffer.from([first * 40 + second, ...arcs]));
}

const distinguished = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(oid(OID.commonName), tagged(0x0c, Buffer.from(name)))));

const extension = (id: readonly number[], value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));

/** UTCTime. */
const time = (ms: number): Buffer =>
  tagged(0x17, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`));
