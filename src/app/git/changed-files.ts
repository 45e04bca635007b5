/** How two commits of an event compare, as the repository tells it: bodies list only some of the files. */
import { MillraceError } from "../../domain/errors.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import { isRefName } from "../../git/names.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { withGit } from "./git-problems.ts";
import { openRepository, type OpenRepository } from "./repository.ts";

export interface EventChange {
  readonly event: string;
  /** Commit ids; empty for none. `sha` is what the run builds. */
  readonly before: string;
  readonly sha: string;
  /** The target branch of a pull request. */
  readonly branch: string;
}

export type ChangedFiles = { readonly files: readonly string[] } | { readonly unknown: string };

/**
 * Of a pull request, what differs between its head and the newest commit that the head shares with the target branch; else what
 * differs between the commits before and after. `unknown` says why they are not known. Rejects only for faults of the store.
 */
export async function changedFiles(
  context: GitContext,
  pipeline: Pipeline,
  change: EventChange,
): Promise<ChangedFiles> {
  const opened = await openRepository(context, pipeline);
  try {
    return await withGit(() =>
      change.event === "pull_request" ? ofPullRequest(opened, change) : ofPush(opened, change),
    );
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return { unknown: error.message };
  }
}

async function ofPush({ engine, repository }: OpenRepository, { before, sha }: EventChange): Promise<ChangedFiles> {
  if (!FULL_COMMIT.test(before)) return { unknown: "there is no commit before it" };
  return { files: await engine.changedFiles(repository, before.toLowerCase(), sha) };
}

async function ofPullRequest(
  { engine, repository }: OpenRepository,
  { branch, sha }: EventChange,
): Promise<ChangedFiles> {
  if (!isRefName(branch)) return { unknown: "its target branch is not known" };
  const shared = await engine.sharedCommit(repository, branch, sha);
  if (shared === undefined) return { unknown: `it shares none of its last commits with ${branch}` };
  if (shared === sha) return { unknown: `${branch} has its commits already` };
  return { files: await engine.changedFiles(repository, shared, sha) };
}

/** Whether one commit is among the last ones that lead to another; false when the repository does not tell. */
export async function leadsTo(context: GitContext, pipeline: Pipeline, older: string, newer: string): Promise<boolean> {
  if (![older, newer].every((id) => FULL_COMMIT.test(id))) return false;
  const { engine, repository } = await openRepository(context, pipeline);
  try {
    return await withGit(() => engine.leadsTo(repository, older, newer));
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return false;
  }
}
