/** From what a checkout wants to what is fetched: the refs that a repository has, as `git ls-remote` prints them. */
import { nearest } from "../../../expressions/nearest.ts";
import type { CheckoutTarget } from "./checkout-args.ts";
import { CheckoutProblem } from "./checkout-problem.ts";

/** As long as a commit may be shortened to. */
const SHORT_COMMIT = /^[0-9a-f]{7,}$/i;

/** The full names that a name may stand for; the first that there is counts. */
export function candidatesOf({ kind, name }: Extract<CheckoutTarget, { readonly name: string }>): readonly string[] {
  if (kind === "branch") return [`refs/heads/${name}`];
  if (name.startsWith("refs/")) return [name];
  return [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`];
}

/** Full names of refs, in the order of the list. */
export function namesIn(listed: string): readonly string[] {
  return listed.split("\n").flatMap((line) => /^[0-9a-f]+\t(refs\/.*)$/.exec(line)?.[1] ?? []);
}

/** The ref that HEAD stands for in a list made with `--symref`; `HEAD` for one that stands for a commit; undefined in an empty repository. */
export function headIn(listed: string): string | undefined {
  const named = /^ref: (refs\/\S+)\tHEAD$/m.exec(listed)?.[1];
  return named ?? (/^[0-9a-f]+\tHEAD$/m.test(listed) ? "HEAD" : undefined);
}

/** Where a ref is kept, so that a step finds it under its usual name; what has no usual one is not kept. */
export function refspecOf(ref: string): string {
  if (ref.startsWith("refs/heads/")) return `+${ref}:refs/remotes/origin/${ref.slice("refs/heads/".length)}`;
  return ref.startsWith("refs/tags/") ? `+${ref}:${ref}` : ref;
}

export function mayBeCommit(wanted: CheckoutTarget): boolean {
  return wanted.kind === "name" && SHORT_COMMIT.test(wanted.name);
}

/** With the nearest of the branches and tags that there are. */
export function noSuchRef(name: string, what: string, refs: readonly string[]): CheckoutProblem {
  const names = refs.map((ref) => ref.replace(/^refs\/(?:heads|tags)\//, "").replace(/\^\{\}$/, ""));
  const near = nearest(name, [...new Set(names)]);
  const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return new CheckoutProblem("noRef", `the repository has no ${what} ${JSON.stringify(name)}${hint}`);
}
