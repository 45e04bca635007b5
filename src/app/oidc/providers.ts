/** The providers of an installation, as a client of OpenID Connect (authorization code with PKCE, state and nonce). */
import type { Configuration } from "openid-client";
import type { Clock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { LoginState } from "./login-state.ts";
import type { OidcProviderSettings } from "./provider-settings.ts";

/** Seconds for which a provider may take to answer one request. */
const ANSWER_WITHIN_SECONDS = 5;
/** A provider may change its addresses. Its keys are read again whenever a new one is named. */
const FRESH_MS = 3_600_000;
/** A provider that could not be reached is not asked again before. */
const PAUSE_MS = 3_000;

/** The library is large, so that only an installation with a provider loads it. */
const loadClient = () => import("openid-client");

/** What a provider says of its user. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Only an address that the provider has verified. */
  readonly email: string | null;
  /** What the user is called there; a hint for the name of a new user. */
  readonly preferredName: string;
  readonly groups: readonly string[];
}

export interface LoginStart {
  /** The address of the provider to which the browser goes. */
  readonly url: string;
  readonly state: Omit<LoginState, "next">;
}

export class OidcProvider {
  readonly settings: OidcProviderSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  #found: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(settings: OidcProviderSettings, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.settings = settings;
    this.#clock = clock;
    this.#log = log;
  }

  /** Begins a login. Throws `unavailable` when the provider does not answer. */
  async begin(redirectUri: string): Promise<LoginStart> {
    const client = await loadClient();
    const configuration = await this.#configuration();
    const verifier = client.randomPKCECodeVerifier();
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scopes.join(" "),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
    });
    return { url: url.href, state: { provider: this.settings.id, state, nonce, verifier } };
  }

  /**
   * Finishes a login with the address to which the provider has sent the browser. Throws `unauthenticated` when the
   * answer does not prove a user or does not belong to the login, and `unavailable` when the provider does not answer.
   */
  async finish(answered: URL, { state, nonce, verifier }: LoginState): Promise<ProvenIdentity> {
    const client = await loadClient();
    const configuration = await this.#configuration();
    try {
      const tokens = await client.authorizationCodeGrant(configuration, answered, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      const isComplete = "email" in claims && this.settings.groupsClaim in claims;
      const { userinfo_endpoint: userinfo } = configuration.serverMetadata();
      const more =
        isComplete || userinfo === undefined
          ? {}
          : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return identityOf({ ...more, ...claims }, this.settings);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async #configuration(): Promise<Configuration> {
    const now = this.#clock.monotonic();
    if (this.#found === undefined || now - this.#found.at > FRESH_MS) {
      const found = { at: now, configuration: this.#discover() };
      this.#found = found;
      found.configuration.catch(() => {
        if (this.#found === found) this.#found = { ...found, at: now - FRESH_MS + PAUSE_MS };
      });
    }
    try {
      return await this.#found.configuration;
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async #discover(): Promise<Configuration> {
    const client = await loadClient();
    const { issuer, clientId, clientSecret, clockToleranceSeconds } = this.settings;
    const isPlain = issuer.startsWith("http:");
    return client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: clockToleranceSeconds },
      clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
      // Only a provider on this machine may have an address without TLS.
      { timeout: ANSWER_WITHIN_SECONDS, execute: isPlain ? [client.allowInsecureRequests] : [] },
    );
  }

  /** Logs the fault, and makes an error without what the provider wrote: that is for the operator. */
  #translate(error: unknown): MillraceError {
    const { id, name } = this.settings;
    const { code = "", error: word = "", cause } = error as { code?: string; error?: string; cause?: unknown };
    this.#log.warn(
      { provider: id, error: String(error), code, word, cause: cause instanceof Error ? cause.message : "" },
      "a login at a provider failed",
    );
    const isUnreachable =
      error instanceof TypeError || ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM"].includes(code);
    if (isUnreachable) {
      return new MillraceError(
        "unavailable",
        `${name} does not answer as it should: try again, or log in with a password`,
        {
          cause: error,
        },
      );
    }
    const why = /^[a-z_]{1,40}$/.test(word) ? ` (${word})` : "";
    return new MillraceError("unauthenticated", `the login at ${name} was not accepted${why}: begin again`, {
      cause: error,
    });
  }
}

function identityOf(claims: Readonly<Record<string, unknown>>, settings: OidcProviderSettings): ProvenIdentity {
  const { sub, iss, email, email_verified: isVerified, preferred_username: preferred, name } = claims;
  const groups = claims[settings.groupsClaim];
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return {
    issuer: text(iss),
    subject: text(sub),
    email: isVerified === true && text(email) !== "" ? text(email).toLowerCase() : null,
    preferredName: text(preferred) || text(email).split("@")[0]! || text(name),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
  };
}
