/** Completes the arguments of the builtin `checkout`, so that what an agent is told says everything. Pure. */
import type { RawSource } from "../definition/schema/pipeline.ts";

type Args = Readonly<Record<string, unknown>>;

/**
 * With what a job's `source` says, as texts that are yet to be evaluated. A step that names a repository of its own takes
 * nothing of it: neither its refs nor its credential are that one's. The credential becomes the text that reads the
 * secret, so that it comes to the agent as any secret does that a step names.
 */
export function completeCheckout(args: Args, code: RawSource | null): Args {
  const isOther = args["repo"] !== undefined;
  const hasRef = args["branch"] !== undefined || args["ref"] !== undefined;
  const { repo, branch, ref, depth, submodules, credential }: Partial<RawSource> = (isOther ? null : code) ?? {};
  const isTriggered = !isOther && branch === undefined && ref === undefined;
  const wanted = hasRef ? {} : { branch, ref: isTriggered ? "${{ trigger.ref }}" : ref };
  const completed = { repo, depth, submodules, credential, ...wanted, ...args };
  const name = completed.credential;
  const readable = { ...completed, credential: name === undefined ? undefined : `\${{ secrets.${name} }}` };
  return Object.fromEntries(Object.entries(readable).filter(([, value]) => value !== undefined));
}
