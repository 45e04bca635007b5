/** The answer to a save, and to a restore. */
import type { PullRequest, SaveSpecResponse } from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { SaveView } from "../../app/catalogue/spec-shapes.ts";

export function savedMessage({ headCommitSha, revisionId, pullRequest }: SaveView): SaveSpecResponse {
  return { headCommitSha, revisionId, pullRequest: pullRequestMessage(pullRequest) };
}

export function pullRequestMessage(pullRequest: SaveView["pullRequest"]): PullRequest | undefined {
  return pullRequest === null ? undefined : { ...pullRequest, number: BigInt(pullRequest.number) };
}
