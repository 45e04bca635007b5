/**
 * Tokens of GitHub App installations: asked for with a proof of the App's key, each for one repository and for no more
 * permissions than a piece of work needs, and kept in memory until shortly before their end.
 */
import { SignJWT } from "jose";
import { z } from "zod";
import type { Clock } from "../domain/clock.ts";
import type { GitRight, TokenSource } from "../git/credential.ts";
import { GitFault } from "../git/git-fault.ts";
import { NoAnswerError, type ReceivedAnswer, type SendRequest } from "../outgoing/requests.ts";
import { jsonOf } from "./answers.ts";
import { appFaultOf } from "./app-faults.ts";
import type { GitHubApp } from "./github-app.ts";
import { GITHUB_HEADERS } from "./github.ts";
import type { ProviderPlace } from "./place.ts";
import type { ApiRight } from "./provider-client.ts";

export type AppRight = GitRight | ApiRight;

/** Who asks for tokens, and for what. */
export interface AppUse {
  readonly app: GitHubApp;
  readonly place: ProviderPlace;
  /** Whether the tokens open all repositories of the installation, such as submodules; else the one of the place. */
  readonly isWide?: boolean;
  /** Whether the tokens are for calls of the API, and not for Git. */
  readonly isOfApi?: boolean;
}

/** Each lets a token write what it lets it read. Source: docs.github.com, "Permissions required for GitHub Apps". */
const PERMISSIONS: Readonly<Record<AppRight, Readonly<Record<string, "read" | "write">>>> = {
  readCode: { contents: "read" },
  writeCode: { contents: "write" },
  proposals: { contents: "read", pull_requests: "write" },
  statuses: { statuses: "write" },
  webhooks: { repository_hooks: "write" },
};
/** GitHub takes a user of this name with each of its tokens. */
const TOKEN_USER = "x-access-token";
/** GitHub accepts a proof for ten minutes at most, and its clock may be behind. */
const PROOF_SECONDS = 600;
const PROOF_BACKDATED_SECONDS = 60;
/** A token that is handed out lives for so long, or for half of its time. A checkout takes its token with it. */
const RENEWED_BEFORE_MS = 10 * 60_000;
const MAX_LIFE_MS = 60 * 60_000;
const MAX_TOKENS = 1_000;

/** Tokens are signed texts in places, so their length is not fixed. */
const issued = z.object({
  token: z.string().regex(/^[\x21-\x7e]{1,10000}$/),
  expires_at: z.iso.datetime({ offset: true }),
});

interface KeptToken {
  readonly token: Promise<string>;
  /** Absent while it is asked for. */
  made?: MadeToken;
}

interface MadeToken {
  readonly token: string;
  /** By the monotonic clock. */
  readonly renewAt: number;
}

export interface InstallationTokensOptions {
  readonly send: SendRequest;
  readonly clock: Clock;
}

export class InstallationTokens {
  readonly #options: InstallationTokensOptions;
  /** In the order in which they were asked for. */
  readonly #kept = new Map<string, KeptToken>();

  constructor(options: InstallationTokensOptions) {
    this.#options = options;
  }

  source(use: AppUse): TokenSource<AppRight> {
    return {
      key: use.app.key,
      token: (right) => this.#token(use, right),
      forget: (token) => {
        for (const [key, { made }] of this.#kept) if (made?.token === token) this.#kept.delete(key);
      },
    };
  }

  #token(use: AppUse, right: AppRight): Promise<string> {
    const { app, place, isWide = false } = use;
    const key = JSON.stringify([app.key, place.api, isWide || place.repository, right]);
    const found = this.#kept.get(key);
    const isGood = found !== undefined && (found.made?.renewAt ?? Infinity) > this.#options.clock.monotonic();
    if (isGood) return found.token;
    this.#kept.delete(key);
    const asked = this.#ask(use, right);
    const kept: KeptToken = { token: asked.then(({ token }) => token) };
    this.#kept.set(key, kept);
    asked.then(
      (made) => (kept.made = made),
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
      },
    );
    if (this.#kept.size > MAX_TOKENS) this.#kept.delete(this.#kept.keys().next().value!);
    return kept.token;
  }

  async #ask(use: AppUse, right: AppRight): Promise<MadeToken> {
    const { clock } = this.#options;
    const askedAt = clock.monotonic();
    const proof = await proofOf(use.app, clock.now());
    const answer = await this.#post(use, right, proof);
    const aheadMs = clock.now() - Date.parse(answer.headers?.date ?? "");
    const read = issued.safeParse(answer.status === 201 ? jsonOf(answer.text) : undefined);
    if (!read.success) {
      const needed = Object.entries(PERMISSIONS[right]).map(([name, access]) => `${name}: ${access}`);
      throw appFaultOf({ ...use, answer, proof, needed, aheadMs });
    }
    const { token, expires_at: end } = read.data;
    // The clock of the host counts where it tells it.
    const leftMs = Date.parse(end) - clock.now() + (Number.isNaN(aheadMs) ? 0 : aheadMs);
    const lifeMs = Math.min(leftMs, MAX_LIFE_MS);
    const renewAt = askedAt + Math.max(lifeMs - RENEWED_BEFORE_MS, lifeMs / 2);
    return { token: `${TOKEN_USER}:${token}`, renewAt };
  }

  async #post(use: AppUse, right: AppRight, proof: string): Promise<ReceivedAnswer> {
    const { app, place, isWide = false, isOfApi = false } = use;
    const url = `${place.api}/app/installations/${app.installationId}/access_tokens`;
    const headers = { ...GITHUB_HEADERS, authorization: `Bearer ${proof}`, "content-type": "application/json" };
    const body = JSON.stringify({
      ...(!isWide && { repositories: [place.repository.at(-1)] }),
      permissions: PERMISSIONS[right],
    });
    try {
      return await this.#options.send({ method: "POST", url, headers, body }, new AbortController().signal);
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      const message = `${new URL(place.api).host} gives no token of the GitHub App ${app.appId}: ${error.message}`;
      throw new GitFault("unreachable", message, { isOfApi });
    }
  }
}

function proofOf({ appId, privateKey }: GitHubApp, now: number): Promise<string> {
  const begin = Math.floor(now / 1_000) - PROOF_BACKDATED_SECONDS;
  return new SignJWT({})
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .setIssuer(appId)
    .setIssuedAt(begin)
    .setExpirationTime(begin + PROOF_SECONDS)
    .sign(privateKey);
}
