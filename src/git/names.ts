/** Names of branches and tags, and paths of files, as far as millrace takes them. Pure. */
import { FULL_COMMIT, NO_REF_NAME } from "../domain/names.ts";

/** Which commit is meant. A `name` is a branch, else a tag, else a full commit id. */
export type GitRef =
  | { readonly kind: "branch" | "ref" | "name"; readonly name: string }
  | { readonly kind: "commit"; readonly id: string };

const MAX_CHARS = 255;
const EXTENSION = /\.(?:ya?ml|json)$/;
const MAX_PATH_CHARS = 1_000;

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

/** What is wrong with the path of a definition, in the form `must ...`; undefined when it is good. */
export function pathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_CHARS) return `must have at most ${MAX_PATH_CHARS} characters`;
  if (/[\p{Cc}\\]/u.test(path)) return "must have no backslash and no control character";
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return "must be a path from the root of the repository, such as .millrace/pipeline.yaml";
  }
  // Git refuses these names where a file system could take them for `.git`.
  if (parts.some((part) => /^(?:\.git|git~\d+)[. ]*$/i.test(part.replaceAll(/\p{Cf}/gu, "")))) {
    return "must not lead into .git";
  }
  return EXTENSION.test(path) ? undefined : "must end in .yaml, .yml or .json";
}
