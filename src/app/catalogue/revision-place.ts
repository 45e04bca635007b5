/** Where the commit of a revision is, as callers read it. */
import type { z } from "zod";
import type { ProposedIn } from "../../stores/ports/pipelines.ts";
import type { PullRequestShape } from "./spec-shapes.ts";

const BRANCH = "refs/heads/";

/** The branch of a full name; null for the full name of anything else, and for the id of a commit. */
export function branchOfRef(refName: string): string | null {
  return refName.startsWith(BRANCH) ? refName.slice(BRANCH.length) : null;
}

export function pullRequestView({ number, url, branch, target }: ProposedIn): z.infer<typeof PullRequestShape> {
  return { number, url, branch, targetBranch: target };
}
