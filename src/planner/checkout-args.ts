/** Completes the arguments of the builtin `checkout`, so that the agent needs nothing else. Pure. */
import type { RawSource } from "../definition/schema/pipeline.ts";

type Args = Readonly<Record<string, unknown>>;

/**
 * The arguments, completed from the job's `source` (`code`), as texts that are not evaluated yet. A step with a `repo` of its own
 * takes nothing from `source`, whose refs and credential belong to another repository. The name of the credential becomes a text
 * that reads the secret, so that the agent receives the secret in the same way as any secret that a step reads.
 */
export function completeCheckout(args: Args, code: RawSource | null): Args {
  const isOther = args["repo"] !== undefined;
  const hasRef = args["branch"] !== undefined || args["ref"] !== undefined;
  const { repo, branch, ref, depth, submodules, credential }: Partial<RawSource> = (isOther ? null : code) ?? {};
  const isTriggered = !isOther && branch === undefined && ref === undefined;
  const refs = hasRef ? {} : { branch, ref: isTriggered ? "${{ trigger.ref }}" : ref };
  const completed = { repo, depth, submodules, credential, ...refs, ...args };
  const name = completed.credential;
  const readable = { ...completed, credential: name === undefined ? undefined : `\${{ secrets.${name} }}` };
  return Object.fromEntries(Object.entries(readable).filter(([, value]) => value !== undefined));
}
