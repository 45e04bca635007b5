/** Which runs are of the default branch of their pipeline: only these may deploy to protected targets. Pure. */
import { isUntrusted, type RunOrigin } from "../../stores/ports/aggregates.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { ToldEvent } from "./told-event.ts";

/** True when the ref, which is looked up among branches first, is the default branch. */
export function isDefaultBranch({ defaultBranch }: Pick<Pipeline, "defaultBranch">, ref: string): boolean {
  return ref === defaultBranch || ref === `refs/heads/${defaultBranch}`;
}

/** A tag may have the name of the branch, and a pull request may come from it or from a fork: none of them is of the branch. */
export function isEventOfDefaultBranch(
  pipeline: Pick<Pipeline, "defaultBranch">,
  origin: RunOrigin,
  { fields: { event, fullRef, tag } }: ToldEvent,
): boolean {
  if (isUntrusted(origin) || event === "pull_request") return false;
  if (typeof fullRef === "string" && fullRef !== "") return fullRef === `refs/heads/${pipeline.defaultBranch}`;
  return tag === "" && isDefaultBranch(pipeline, origin.trigger.ref);
}
