/** Tokens of GitHub Apps for the checkouts of agents, which never get the key of an App. */
import { MillraceError } from "../../domain/errors.ts";
import { GitFault } from "../../git/git-fault.ts";
import { parseRemote } from "../../git/remote.ts";
import { appUseOf } from "./app-credential.ts";
import type { GitContext } from "./context.ts";

/** What a checkout asks for. */
export interface AskedCheckout {
  readonly repoUrl: string;
  /** Whether repositories of submodules are read, too. */
  readonly hasSubmodules: boolean;
  /** The value of the secret that it names. */
  readonly secret: string;
}

/** There is no token for the checkout. The message says why, and what to do. */
export class NoCheckoutTokenError extends Error {
  /** Whether the host may give one later. */
  readonly mayPass: boolean;
  /** How long the host wants to be left alone; null when it does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, more: { mayPass?: boolean; retryAfterSeconds?: number | null } = {}) {
    super(message);
    this.mayPass = more.mayPass ?? false;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }
}

/** `user:token`, which may read the repository. Rejects with a {@link NoCheckoutTokenError}. */
export async function checkoutToken({ git }: Pick<GitContext, "git">, asked: AskedCheckout): Promise<string> {
  const remote = parseRemote(asked.repoUrl);
  if (typeof remote === "string") throw new NoCheckoutTokenError(`the repository of the checkout ${remote}`);
  if (git === undefined) throw new NoCheckoutTokenError("this installation reaches no repositories");
  try {
    const use = appUseOf(remote, asked.secret, "credential");
    return await git.appTokens.source({ ...use, isWide: asked.hasSubmodules }).token("readCode");
  } catch (error) {
    if (error instanceof GitFault) throw new NoCheckoutTokenError(error.message, error);
    if (error instanceof MillraceError) throw new NoCheckoutTokenError(error.message.replace(/^\//, ""));
    throw error;
  }
}
