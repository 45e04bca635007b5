/** Which pipelines report their runs as commit statuses. Pure. */
import type { Pipeline } from "../../stores/ports/pipelines.ts";

/** `run`: one status for each run; `jobs`: also one for each job. */
export const REPORTED = ["off", "run", "jobs"] as const;
export type Reported = (typeof REPORTED)[number];

/** What a pipeline reports. Without a word of its own, one in Git that names a token for the API of its host reports its runs. */
export function reportedBy({
  repoUrl,
  repoApiCredential = "",
  commitStatuses = "",
}: Pick<Pipeline, "repoUrl" | "repoApiCredential" | "commitStatuses">): Reported {
  if (repoUrl === "") return "off";
  if (commitStatuses !== "") return commitStatuses;
  return repoApiCredential === "" ? "off" : "run";
}
