/**
 * The GitHub App that a secret names: as JSON, with the installation whose tokens open a repository. Source: docs.github.com,
 * "Authenticating as a GitHub App installation".
 */
import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { jsonOf } from "./answers.ts";
import type { ProviderPlace } from "./place.ts";

export interface GitHubApp {
  /** Its number, or its client id. */
  readonly appId: string;
  readonly installationId: number;
  readonly privateKey: KeyObject;
  /** Where the App is registered, as it stands in an address: no other host is sent a proof of the key. */
  readonly host: string;
  /** Differs for Apps that differ in anything, also in the key. Never shown. */
  readonly key: string;
}

const DEFAULT_HOST = "github.com";
const wholeNumber = z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,15}$/)]);
const fields = z.strictObject({
  appId: z.union([wholeNumber, z.string().regex(/^Iv[\w.]{5,60}$/)]).transform(String),
  installationId: wholeNumber.transform(Number),
  privateKey: z.string().max(20_000),
  host: z
    .string()
    .regex(/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?::\d{1,5})?$/)
    .default(DEFAULT_HOST),
});

/** What is wrong with each field, in the form `must be ...`. */
const RULES: Readonly<Record<string, string>> = {
  appId: "`appId` must be the number or the client id of the App",
  installationId: "`installationId` must be the number in the address of the installation's page",
  privateKey: "`privateKey` must be a private key of RSA as GitHub makes it, in PEM form and without a passphrase",
  host: "`host` must be the name of a host, such as github.example.com",
};

/** Whether a secret holds a GitHub App, well written or not. No token begins so. */
export function isAppCredential(secret: string): boolean {
  return secret.trimStart().startsWith("{");
}

/** The App, or what is wrong with the text, which shows nothing of the text. */
export function readApp(secret: string): GitHubApp | string {
  const json = jsonOf(secret);
  if (json === undefined) return "it is no JSON; line feeds of the key are written as \\n";
  const read = fields.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    return RULES[String(issue?.path[0])] ?? "it must be an object with `appId`, `installationId`, `privateKey`, `host`";
  }
  const { appId, installationId, host } = read.data;
  const privateKey = keyOf(read.data.privateKey);
  if (privateKey === undefined) return RULES["privateKey"]!;
  const key = createHash("sha256").update(JSON.stringify(read.data)).digest("hex");
  return { appId, installationId, privateKey, host: host.toLowerCase(), key };
}

/** GitHub signs with RSA of 2,048 bits. */
function keyOf(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    const isLong = (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048;
    return key.asymmetricKeyType === "rsa" && isLong ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the API of the place is that of the host at which the App is registered. */
export function isAppOf({ host }: Pick<GitHubApp, "host">, { api }: Pick<ProviderPlace, "api">): boolean {
  const apiHost = new URL(api).host;
  return apiHost === host || apiHost === `api.${host}`;
}
