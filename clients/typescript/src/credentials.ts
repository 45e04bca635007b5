/** Where the tokens of calls come from. */
import type { Schemas } from "./api-types.ts";

export interface Credentials {
  /** The token for the next call; undefined for a call without one, as with the cookie of a browser. */
  token(): Promise<string | undefined>;
  /** Called when the server has refused the token. True when the call can be repeated with another one. */
  renew?(refused: string): Promise<boolean>;
}

/** A token that never changes: a personal token, or one of a service account. */
export function fixedToken(token: string): Credentials {
  return { token: () => Promise.resolve(token) };
}

/** The tokens of a login. */
export interface LoginTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires, Unix milliseconds of this machine. */
  readonly expiresAt: number;
}

/** Where the tokens of a login are kept. Several programs may share one place. */
export interface TokenStore {
  load(): Promise<LoginTokens | undefined>;
  /** A refresh token is good once, so what is not saved ends the login. */
  save(tokens: LoginTokens): Promise<void>;
}

export interface RefreshingOptions {
  readonly store: TokenStore;
  /** Asks the server for the next tokens; see `MillraceClient.refresh`. */
  readonly refresh: (refreshToken: string) => Promise<Schemas["RenewedLogin"]>;
  readonly now?: () => number;
}

/** An access token is renewed this long before it expires, so that it does not expire on its way. */
const EARLY_MS = 30_000;

/**
 * The tokens of a login, renewed before the access token expires. Calls that need a new token at the same time wait for
 * one renewal. A renewal first looks whether another program has stored newer tokens: a refresh token that is used a
 * second time ends the login.
 */
export class RefreshingCredentials implements Credentials {
  readonly #options: RefreshingOptions;
  readonly #now: () => number;
  #tokens: LoginTokens | undefined;
  #renewal: Promise<LoginTokens | undefined> | undefined;

  constructor(options: RefreshingOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async token(): Promise<string | undefined> {
    this.#tokens ??= await this.#options.store.load();
    if (this.#tokens !== undefined && !this.#isGood(this.#tokens)) await this.#renewOnce();
    return this.#tokens?.accessToken;
  }

  async renew(refused: string): Promise<boolean> {
    // Another call may have renewed the token while this call was on its way.
    if (this.#tokens?.accessToken === refused) await this.#renewOnce(refused);
    return this.#tokens !== undefined && this.#tokens.accessToken !== refused;
  }

  async #renewOnce(refused?: string): Promise<void> {
    this.#renewal ??= this.#next(refused).finally(() => (this.#renewal = undefined));
    this.#tokens = await this.#renewal;
  }

  async #next(refused: string | undefined): Promise<LoginTokens | undefined> {
    const { store, refresh } = this.#options;
    const stored = await store.load();
    if (stored === undefined) return undefined;
    if (stored.accessToken !== refused && this.#isGood(stored)) return stored;
    const { accessToken, refreshToken, expiresIn } = await refresh(stored.refreshToken);
    const next = { accessToken, refreshToken, expiresAt: this.#now() + expiresIn * 1_000 };
    await store.save(next);
    return next;
  }

  #isGood({ expiresAt }: LoginTokens): boolean {
    return this.#now() < expiresAt - EARLY_MS;
  }
}
