/** What lies between two commits: changed files, and the commit that they share. Works on commits that the server hands out. */
import { GitFault } from "./git-fault.ts";
import type { Mirror } from "./mirror.ts";

/** Commits of a history that are looked at for one that two branches share. */
export const COMPARED_COMMITS = 250;

/** The files that differ between two commits, by full paths. Throws `noRef` when the server hands out one of the commits no more. */
export async function readChangedFiles(mirror: Mirror, from: string, to: string): Promise<readonly string[]> {
  for (const id of [from, to]) {
    if ((await mirror.fetchCommit(id)) === undefined) throw new GitFault("noRef", `commit ${id} is not there any more`);
  }
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", `${from}^{commit}`, `${to}^{commit}`];
  const printed = await mirror.local(args);
  return printed
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}

/**
 * The newest commit that a branch and a commit share; undefined when their last commits share none, or when the server has no
 * such branch or commit. `mirror`: an empty one, since what another fetch has cut off would count as the end of the history.
 */
export async function findSharedCommit(mirror: Mirror, branch: string, id: string): Promise<string | undefined> {
  const tip = await mirror.fetchHistory(`refs/heads/${branch}`, COMPARED_COMMITS);
  const other = tip && (await mirror.fetchHistory(id, COMPARED_COMMITS));
  if (tip === undefined || other === undefined) return undefined;
  const ofBranch = new Set(await historyOf(mirror, tip));
  return (await historyOf(mirror, other)).find((commit) => ofBranch.has(commit));
}

/** Whether `older` is among the last commits that lead to `newer`. `mirror`: an empty one. */
export async function isAmongAncestors(mirror: Mirror, older: string, newer: string): Promise<boolean> {
  const tip = await mirror.fetchHistory(newer, COMPARED_COMMITS);
  return tip !== undefined && (await historyOf(mirror, tip)).includes(older);
}

/** No commit stands before its descendants. */
async function historyOf(mirror: Mirror, tip: string): Promise<readonly string[]> {
  return (await mirror.local(["rev-list", "--topo-order", tip])).toString("latin1").trimEnd().split("\n");
}
