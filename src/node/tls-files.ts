/**
 * The certificates and keys of listeners, read from files again when an operator or a tool renews them while the node
 * runs.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { NodeConfig } from "../settings/config.ts";
import type { TlsFileNames } from "../settings/tls.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { secureContextOf, type TlsMaterial, type TlsSource } from "../domain/tls.ts";
import type { Teardown } from "./teardown.ts";

/** Time between two looks at the files. */
const LOOK_EVERY_MS = 10_000;

export interface TlsFilesOptions {
  readonly log: Logger;
  /** Milliseconds between two looks at the files; default 10,000. */
  readonly lookEveryMs?: number;
}

export class TlsFiles implements TlsSource {
  readonly #names: TlsFileNames;
  readonly #log: Logger;
  readonly #listeners: ((material: TlsMaterial) => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  #current: TlsMaterial;
  #looking: Promise<void> | undefined;
  /** The last fault, so that each fault is logged once. */
  #fault = "";

  /**
   * Reads the files. Rejects with `malformed_request`, naming the variable and the file, when a file cannot be read or
   * is not PEM, or when key and certificate do not match.
   */
  static async open(names: TlsFileNames, options: TlsFilesOptions): Promise<TlsFiles> {
    return new TlsFiles(names, options, await readMaterial(names));
  }

  private constructor(names: TlsFileNames, { log, lookEveryMs = LOOK_EVERY_MS }: TlsFilesOptions, first: TlsMaterial) {
    this.#names = names;
    this.#log = log;
    this.#current = first;
    warnOfAge(first, names, log);
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    }, lookEveryMs);
    this.#timer.unref();
  }

  get current(): TlsMaterial {
    return this.#current;
  }

  onRenewal(listener: (material: TlsMaterial) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /**
   * A look may find a new certificate with the old key, or half of a file. It logs that, and one of the next looks
   * finds both complete.
   */
  async #look(): Promise<void> {
    try {
      const material = await readMaterial(this.#names);
      this.#fault = "";
      if (isSame(material, this.#current)) return;
      this.#current = material;
      for (const listener of this.#listeners) listener(material);
      const { subject, validTo } = new X509Certificate(material.certificate);
      this.#log.info({ file: this.#names.certificateFile, subject, validTo }, "the certificate has been renewed");
      warnOfAge(material, this.#names, this.#log);
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#fault) this.#log.warn({ error: fault }, "the old certificate stays in use");
      this.#fault = fault;
    }
  }
}

/** Opens the files of all listeners that use TLS; null for the others. Rejects as {@link TlsFiles.open} does. */
export async function openTls(
  { tls }: Pick<NodeConfig, "tls">,
  log: Logger,
  teardown: Teardown,
): Promise<Record<keyof typeof tls, TlsSource | null>> {
  const open = async (names: TlsFileNames | null): Promise<TlsSource | null> => {
    if (names === null) return null;
    const files = await TlsFiles.open(names, { log });
    teardown.add(`the watch over ${names.prefix}_CERT_FILE`, () => files.close());
    return files;
  };
  return { http: await open(tls.http), grpc: await open(tls.grpc), metrics: await open(tls.metrics) };
}

async function readMaterial(names: TlsFileNames): Promise<TlsMaterial> {
  const { prefix, certificateFile, keyFile, clientCaFile } = names;
  const variables = {
    certificate: `${prefix}_CERT_FILE=${certificateFile}`,
    key: `${prefix}_KEY_FILE=${keyFile}`,
    clientAuthorities: `${prefix}_CLIENT_CA_FILE=${clientCaFile}`,
  };
  const [certificate, privateKey, clientAuthorities] = await Promise.all([
    read(certificateFile, variables.certificate),
    read(keyFile, variables.key),
    clientCaFile === null ? null : read(clientCaFile, variables.clientAuthorities),
  ]);
  const leaf = parsePem(variables.certificate, "a certificate", () => new X509Certificate(certificate));
  const key = parsePem(variables.key, "a private key without a passphrase", () => createPrivateKey(privateKey));
  if (clientAuthorities !== null) {
    parsePem(variables.clientAuthorities, "certificates", () => new X509Certificate(clientAuthorities));
  }
  if (!leaf.checkPrivateKey(key)) {
    const text = `${variables.key}: this is not the key of the certificate in ${certificateFile}; the certificate must come first in its file`;
    throw new MillraceError("malformed_request", text);
  }
  const material = { certificate, privateKey, clientAuthorities };
  parsePem(variables.certificate, "a usable chain", () => createSecureContext(secureContextOf(material)));
  return material;
}

async function read(file: string, variable: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new MillraceError("malformed_request", `${variable}: the file cannot be read (${code})`, { cause: error });
  }
}

function parsePem<T>(variable: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new MillraceError("malformed_request", `${variable}: the file must hold ${what} in PEM`, { cause: error });
  }
}

function warnOfAge({ certificate }: TlsMaterial, { certificateFile: file }: TlsFileNames, log: Logger): void {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const now = Date.now();
  if (now < Date.parse(validFrom) || now > Date.parse(validTo)) {
    log.warn({ file, validFrom, validTo }, "the certificate is not valid now: callers will refuse it");
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  const keys = ["certificate", "privateKey", "clientAuthorities"] as const;
  return keys.every((key) => (one[key] ?? Buffer.of()).equals(other[key] ?? Buffer.of()));
}
