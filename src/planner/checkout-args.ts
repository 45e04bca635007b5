/** Completes the arguments of the builtin `checkout`, so that the agent needs nothing else. Pure. */
import type { RawSource } from "../definition/schema/pipeline.ts";

type Args = Readonly<Record<string, unknown>>;

/** The repository that the definition of a run is in. */
export interface OwnRepository {
  readonly url: string;
  readonly commit: string;
  /** The name of the secret that opens it; empty for none. */
  readonly credential: string;
}

/**
 * The arguments, completed from the job's `source` (`code`), as texts that are not evaluated yet. A step with a `repo` of its own
 * takes nothing from `source`, whose refs and credential belong to another repository. A checkout of the repository that the
 * definition is in takes the commit of the run, unless it names a branch or ref. In a run of a fork, `forkCommit` takes the place
 * of the ref of the trigger, which may hold another commit by then than the one that people have approved. The name of the
 * credential becomes a text that reads the secret, so that the agent receives the secret in the same way as any secret that
 * a step reads.
 */
export function completeCheckout(args: Args, code: RawSource | null, own?: OwnRepository, forkCommit?: string): Args {
  const isOther = args["repo"] !== undefined;
  const { repo, branch, ref, depth, submodules, credential }: Partial<RawSource> = (isOther ? null : code) ?? {};
  const isOwn = own !== undefined && (args["repo"] ?? repo ?? own.url) === own.url;
  const hasRef = args["branch"] !== undefined || args["ref"] !== undefined;
  const isNamed = branch !== undefined || ref !== undefined;
  const standard = isOwn ? own.commit : isOther ? undefined : (forkCommit ?? "${{ trigger.ref }}");
  const refs = hasRef ? {} : { branch, ref: isNamed ? ref : standard };
  const completed = { repo, depth, submodules, credential, ...refs, ...args };
  const name = completed.credential ?? (isOwn && own.credential !== "" ? own.credential : undefined);
  const readable = { ...completed, credential: name === undefined ? undefined : `\${{ secrets.${name} }}` };
  return Object.fromEntries(Object.entries(readable).filter(([, value]) => value !== undefined));
}
