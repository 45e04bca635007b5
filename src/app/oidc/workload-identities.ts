/** Verifies the identity tokens with which agents register: those of trusted issuers, and those of this installation itself. */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import { MillraceError } from "../../domain/errors.ts";
import type { AppContext } from "../context.ts";
import type { WorkloadGrant, WorkloadProver } from "../identity/workload-proofs.ts";
import { type KeyContext, publishedKeys } from "../identity/token-keys.ts";
import { claimsMatch, SELF, type WorkloadIssuerSettings } from "./workload-settings.ts";

/** Those with a public key: with a shared one, a key that is published would sign. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
/** How long an issuer may take to answer one request. */
const ANSWER_WITHIN_MS = 5_000;
/** An issuer may change its addresses. Its keys are read again whenever a new one is named. */
const FRESH_MS = 3_600_000;
/** An issuer that could not be reached is not asked again before. */
const PAUSE_MS = 3_000;
const MAX_SUBJECT_CHARS = 256;

/** The library is large, so that only an installation with issuers loads it. */
const loadClient = () => import("openid-client");

type WorkloadContext = KeyContext & Pick<AppContext, "publicUrl" | "log">;

interface FoundKeys {
  readonly at: number;
  readonly keys: Promise<JWTVerifyGetKey>;
}

export class WorkloadIdentities implements WorkloadProver {
  readonly #issuers: readonly WorkloadIssuerSettings[];
  readonly #context: WorkloadContext;
  readonly #found = new Map<string, FoundKeys>();

  constructor(issuers: readonly WorkloadIssuerSettings[], context: WorkloadContext) {
    this.#issuers = issuers;
    this.#context = context;
  }

  async prove(bearer: string): Promise<WorkloadGrant | undefined> {
    const claimed = issuerIn(bearer);
    const trusted = this.#issuers.filter((one) => claimed !== undefined && this.#addressOf(one) === claimed);
    if (trusted.length === 0) return undefined;
    let why = "";
    for (const one of trusted) {
      const proven = await this.#verify(one, bearer);
      if ("why" in proven) {
        why = proven.why;
        continue;
      }
      if (!claimsMatch(one.claims, proven.claims)) {
        why ||= "its claims are not those that the settings ask for";
        continue;
      }
      const subject = (proven.claims.sub ?? "").slice(0, MAX_SUBJECT_CHARS);
      return { id: one.id, subject, labels: one.labels, ...(one.reach && { reach: one.reach }) };
    }
    const { sub } = decodeJwt(bearer);
    this.#context.log.warn({ issuer: claimed, subject: sub, why }, "an identity token of a workload is refused");
    throw new MillraceError("unauthenticated", `the identity token of ${claimed} is refused: ${why}`);
  }

  #addressOf({ issuer }: WorkloadIssuerSettings): string | undefined {
    return issuer === SELF ? this.#context.publicUrl : issuer;
  }

  async #verify(
    settings: WorkloadIssuerSettings,
    bearer: string,
  ): Promise<{ readonly claims: JWTPayload } | { readonly why: string }> {
    const { audience, clockToleranceSeconds } = settings;
    const issuer = this.#addressOf(settings)!;
    try {
      const { payload } = await jwtVerify(bearer, await this.#keysOf(settings), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(this.#context.clock.now()),
        requiredClaims: ["exp", "sub"],
      });
      return { claims: payload };
    } catch (error) {
      const why = whyRefused(error);
      if (why !== undefined) return { why };
      this.#context.log.warn({ issuer, error: String(error) }, "the keys of an issuer could not be read");
      throw new MillraceError("unavailable", `the keys of ${issuer} cannot be read now: try again`, { cause: error });
    }
  }

  async #keysOf({ issuer }: WorkloadIssuerSettings): Promise<JWTVerifyGetKey> {
    if (issuer === SELF) return createLocalJWKSet({ keys: [...(await publishedKeys(this.#context))] });
    const now = this.#context.clock.monotonic();
    const known = this.#found.get(issuer);
    if (known !== undefined && now - known.at <= FRESH_MS) return known.keys;
    const found = { at: now, keys: discover(issuer) };
    this.#found.set(issuer, found);
    found.keys.catch(() => {
      if (this.#found.get(issuer) === found) this.#found.set(issuer, { ...found, at: now - FRESH_MS + PAUSE_MS });
    });
    return found.keys;
  }
}

/** Rejects when the issuer does not answer, and when it says that it is another one. */
async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const client = await loadClient();
  const isPlain = issuer.startsWith("http:");
  const configuration = await client.discovery(new URL(issuer), "millrace", undefined, client.None(), {
    timeout: ANSWER_WITHIN_MS / 1_000,
    // Only an issuer on this machine may have an address without TLS.
    execute: isPlain ? [client.allowInsecureRequests] : [],
  });
  const { jwks_uri: address } = configuration.serverMetadata();
  if (address === undefined || (!isPlain && !address.startsWith("https://"))) {
    throw new TypeError(`${issuer} names no keys with an https address`);
  }
  return createRemoteJWKSet(new URL(address), { timeoutDuration: ANSWER_WITHIN_MS });
}

/** The issuer that the token names, before anything of it is verified. */
function issuerIn(bearer: string): string | undefined {
  try {
    return decodeJwt(bearer).iss;
  } catch {
    return undefined;
  }
}

/** Undefined for a fault that is not the token's. */
function whyRefused(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim ${error.claim} does not count here`;
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return "no key of the issuer has signed it";
  }
  const isMalformed =
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSMultipleMatchingKeys;
  return isMalformed ? "it is no identity token that can be verified" : undefined;
}
