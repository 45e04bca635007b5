/** Finds the commit that a ref stands for, and says of one that is missing what the repository has in its place. */
import { GitFault } from "./git-fault.ts";
import type { Mirror } from "./mirror.ts";
import { candidatesOf, type GitRef } from "./names.ts";
import type { CommitFacts } from "./objects.ts";
import type { Remote } from "./remote.ts";

export interface FoundCommit {
  /** The full name of the ref; the id for a commit. */
  readonly refName: string;
  readonly commit: CommitFacts;
}

/** A commit id that is cut off. */
const SHORT_COMMIT = /^[0-9a-f]{7,39}$/i;

/** Rejects with `noRef` when the server has no such ref. */
export async function findCommit(mirror: Mirror, remote: Remote, ref: GitRef): Promise<FoundCommit> {
  if (ref.kind === "commit") {
    const commit = await mirror.fetchCommit(ref.id);
    if (commit !== undefined) return { refName: ref.id, commit };
    throw new GitFault("noRef", `${remote.url} has no commit ${ref.id}, or does not hand it out by its id`);
  }
  for (const refName of candidatesOf(ref)) {
    const commit = await mirror.fetchRef(refName);
    if (commit !== undefined) return { refName, commit };
  }
  const what = ref.kind === "branch" ? "branch" : ref.kind === "ref" ? "ref" : "branch or tag";
  const missing = `${remote.url} has no ${what} ${JSON.stringify(ref.name)}`;
  if (ref.kind === "name" && SHORT_COMMIT.test(ref.name)) {
    throw new GitFault("noRef", `${missing}: give the full id of a commit, 40 digits`);
  }
  throw new GitFault("noRef", `${missing}${await insteadOf(mirror)}`);
}

/** What the repository has, in words that go on after what it has not; empty when it does not answer. */
async function insteadOf(mirror: Mirror): Promise<string> {
  try {
    const head = await mirror.listRefs(["--symref", "origin", "HEAD"], "asking for the default branch");
    const branch = branchOfHead(head);
    if (branch !== undefined) return `; its default branch is ${JSON.stringify(branch)}`;
    return head === "" && (await isEmpty(mirror)) ? "; it has no commit yet" : "";
  } catch (error) {
    if (error instanceof GitFault) return "";
    throw error;
  }
}

/** The branch in the answer to a question for HEAD with `--symref`; undefined for an empty repository. */
export function branchOfHead(listed: string): string | undefined {
  return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(listed)?.[1];
}

/** True for a repository without any branch. */
export async function isEmpty(mirror: Mirror): Promise<boolean> {
  return (await mirror.listRefs(["--heads", "origin"], "asking for the branches")) === "";
}
