/** What an agent gets of the secret of a checkout: of a GitHub App a token that may read the repository, and never its key. */
import { type AskedCheckout, NoCheckoutTokenError } from "../app/git/checkout-token.ts";
import { DeferredTextError, type ResolvedStep } from "../planner/deferred-texts.ts";
import { isAppCredential } from "../providers/github-app.ts";

export interface HandedOut {
  readonly step: ResolvedStep;
  /** What the agent masks in logs. */
  readonly secrets: readonly string[];
}

/** Throws a {@link DeferredTextError} when there is no token, and what `tokenFor` throws besides while there may be one later. */
export async function withCheckoutToken(
  handedOut: HandedOut,
  tokenFor: (asked: AskedCheckout) => Promise<string> = noToken,
): Promise<HandedOut> {
  const { step, secrets } = handedOut;
  const { credential: secret, repo, submodules = false } = step.args as Readonly<Record<string, unknown>>;
  if (step.uses !== "checkout" || typeof secret !== "string" || !isAppCredential(secret)) return handedOut;
  const asked = {
    repoUrl: typeof repo === "string" ? repo : "",
    hasSubmodules: String(submodules) !== "false",
    secret,
  };
  const credential = await tokenFor(asked).catch((error: unknown) => {
    throw error instanceof NoCheckoutTokenError ? new DeferredTextError(error.message) : error;
  });
  const token = credential.slice(credential.indexOf(":") + 1);
  return {
    step: { ...step, args: { ...step.args, credential } },
    secrets: [...secrets.filter((value) => value !== secret), token],
  };
}

function noToken(): Promise<never> {
  return Promise.reject(new NoCheckoutTokenError("this node makes no tokens of GitHub Apps"));
}
