/** Names of Git refs: which refs a target may mean, and which refs a repository has according to `git ls-remote`. */
import { nearest } from "../../../expressions/nearest.ts";
import type { CheckoutTarget } from "./checkout-args.ts";
import { CheckoutProblem } from "./checkout-problem.ts";

/** A commit id, shortened to 7 characters at most. */
const SHORT_COMMIT = /^[0-9a-f]{7,}$/i;

/** The full names that a name may mean. The first that exists counts. */
export function candidatesOf({ kind, name }: Extract<CheckoutTarget, { readonly name: string }>): readonly string[] {
  if (kind === "branch") return [`refs/heads/${name}`];
  if (name.startsWith("refs/")) return [name];
  return [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`];
}

/** The full names of the refs in a list of `git ls-remote`, in its order. */
export function namesIn(listed: string): readonly string[] {
  return listed.split("\n").flatMap((line) => /^[0-9a-f]+\t(refs\/.*)$/.exec(line)?.[1] ?? []);
}

/**
 * The ref to which HEAD points, from a list made with `--symref`. `HEAD` itself if it points to a commit; undefined in
 * an empty repository.
 */
export function headIn(listed: string): string | undefined {
  const named = /^ref: (refs\/\S+)\tHEAD$/m.exec(listed)?.[1];
  return named ?? (/^[0-9a-f]+\tHEAD$/m.test(listed) ? "HEAD" : undefined);
}

/**
 * The refspec that fetches a ref under its usual local name. A ref without a usual local name is fetched without a
 * name.
 */
export function refspecOf(ref: string): string {
  if (ref.startsWith("refs/heads/")) return `+${ref}:refs/remotes/origin/${ref.slice("refs/heads/".length)}`;
  return ref.startsWith("refs/tags/") ? `+${ref}:${ref}` : ref;
}

/** Whether the target may be a shortened commit id. */
export function mayBeCommit(target: CheckoutTarget): boolean {
  return target.kind === "name" && SHORT_COMMIT.test(target.name);
}

/** The problem of a ref that does not exist. It suggests the most similar name of `refs`. */
export function noSuchRef(name: string, what: string, refs: readonly string[]): CheckoutProblem {
  const names = refs.map((ref) => ref.replace(/^refs\/(?:heads|tags)\//, "").replace(/\^\{\}$/, ""));
  const near = nearest(name, [...new Set(names)]);
  const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return new CheckoutProblem("noRef", `the repository has no ${what} ${JSON.stringify(name)}${hint}`);
}
