/** Names of branches and tags, as far as millrace takes them. Pure. */
import { FULL_COMMIT, NO_REF_NAME } from "../domain/names.ts";

/** Which commit is meant. A `name` is a branch, else a tag, else a full commit id. */
export type GitRef =
  | { readonly kind: "branch" | "ref" | "name"; readonly name: string }
  | { readonly kind: "commit"; readonly id: string };

const MAX_CHARS = 255;

export function isRefName(name: string): boolean {
  return name.length <= MAX_CHARS && !NO_REF_NAME.test(name);
}

/** What a caller means by a ref: a full commit id, `refs/...`, or the name of a branch or tag. Undefined for none. */
export function refOf(text: string): GitRef | undefined {
  if (FULL_COMMIT.test(text)) return { kind: "commit", id: text.toLowerCase() };
  if (!isRefName(text)) return undefined;
  return { kind: text.startsWith("refs/") ? "ref" : "name", name: text };
}

/** The full names that are tried for a ref, in this order. The server is never asked for anything but a full name. */
export function candidatesOf(ref: Exclude<GitRef, { readonly kind: "commit" }>): readonly string[] {
  if (ref.kind === "ref") return [ref.name];
  const branch = `refs/heads/${ref.name}`;
  return ref.kind === "branch" ? [branch] : [branch, `refs/tags/${ref.name}`];
}
