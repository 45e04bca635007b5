/**
 * Looks, before a run ends others of its concurrency group, whether it would end a run of a newer commit: deliveries come out of
 * order. Which commit is newer is not a matter of time, but of what the repository has and of what the pushes say.
 */
import type { RunId } from "../../domain/ids.ts";
import type { EventFacts } from "../../hook-events/words.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { leadsTo } from "../git/changed-files.ts";
import type { HookRunContext } from "./context.ts";

const LIVE = ["pending", "running", "paused"] as const;
/** Live runs of the same ref that are looked at: those of a group that ends older ones are few. */
const LOOKED_AT = 20;

export interface Pushed {
  readonly pipeline: Pipeline;
  readonly facts: EventFacts;
  /** What the run builds; undefined for an inline definition. */
  readonly commitSha: string | undefined;
  /** Where the ref is now, as the repository has answered; null when it was not asked. */
  readonly tip: string | null;
}

export interface NewerRun {
  readonly runId: RunId;
  readonly sha: string;
}

/** A live run of the same pipeline and full ref that builds a newer commit; undefined when none is known. */
export async function findNewerRun(context: HookRunContext, pushed: Pushed): Promise<NewerRun | undefined> {
  const { pipeline, facts, tip } = pushed;
  const sha = pushed.commitSha ?? facts.sha;
  if (facts.event !== "push" || facts.fullRef === "" || sha === "" || tip === sha) return undefined;
  const { list } = await context.stores.aggregates.findRuns(
    { pipelineId: pipeline.pipelineId, statuses: LIVE, ref: facts.ref, trigger: "event" },
    { limit: LOOKED_AT },
  );
  for (const { rootId: runId, origin } of list) {
    const { event } = origin.trigger;
    const delivery = event && (await context.stores.hooks.findDelivery(event.deliveryId));
    const other = event && delivery?.events[event.index];
    if (other?.event !== "push" || other.fullRef !== facts.fullRef) continue;
    if (await isNewer(context, pushed, sha, other)) return { runId, sha: other.sha };
  }
  return undefined;
}

async function isNewer(
  context: HookRunContext,
  { pipeline, facts, tip }: Pushed,
  sha: string,
  other: EventFacts,
): Promise<boolean> {
  if (other.sha === sha || facts.before === other.sha) return false;
  if (other.before === sha || tip === other.sha) return true;
  // Where the repository was not asked, nothing tells.
  return tip !== null && (await leadsTo(context, pipeline, sha, other.sha));
}
