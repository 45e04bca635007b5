/** Compares jobs with what Redis holds for them: offers on the board, and places in quotas. Pure. */
import type { AggregateType } from "../../../actors/kernel/actor-kind.ts";
import { kindOf } from "../../../actors/kernel/actor-kind.ts";
import { isBound, type JobState } from "../../../actors/job/state.ts";
import type { Offer } from "../../domain/effects.ts";
import type { JobRunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { InspectedAggregate } from "../../stores/ports/inspection.ts";
import type { Difference } from "./difference.ts";

/** What Redis must hold for an aggregate. */
export interface Expected {
  readonly offers: readonly Offer[];
  readonly places: readonly { readonly jobId: JobRunId; readonly quota: string }[];
}

export function expectedOf({ actors }: InspectedAggregate, plan: RunPlan, type: AggregateType): Expected {
  const effects = actors.flatMap(({ kind, state }) => kindOf(type, kind).outstanding(state as never, plan));
  return {
    offers: effects.flatMap((effect) => (effect.type === "offer" ? [effect.offer] : [])),
    places: effects.flatMap((effect) =>
      effect.type === "occupy" ? effect.quotas.map((quota) => ({ jobId: effect.jobId, quota })) : [],
    ),
  };
}

/** Offers that must be on the board. */
export function checkOffers(expected: readonly Offer[], found: readonly Offer[]): readonly Difference[] {
  const byJob = new Map(found.map((offer) => [offer.jobId, offer]));
  return expected.flatMap(({ jobId, runId, projectId, priority }): readonly Difference[] => {
    const offer = byJob.get(jobId);
    const say = (text: string): readonly Difference[] => [{ kind: "offer", object: jobId, text }];
    if (offer === undefined) return say("is queued, and its offer is not on the board");
    if (offer.runId !== runId || offer.projectId !== projectId || offer.priority !== priority)
      return say("is queued, and its offer on the board is another one");
    return [];
  });
}

/** An offer on the board. `job` is the state of its job; undefined when there is none. */
export function checkFoundOffer(offer: Offer, job: JobState | undefined): readonly Difference[] {
  if (job?.state === "queued" && !job.paused) return [];
  const state = job === undefined ? "there is no such job" : `the job is ${job.paused ? "paused" : job.state}`;
  return [{ kind: "offer", object: offer.jobId, text: `is offered on the board, and ${state}` }];
}

/** A place in a quota. A job that is queued may have one while its offer is taken. */
export function checkFoundPlace(
  { quota, jobId }: { readonly quota: string; readonly jobId: JobRunId },
  job: JobState | undefined,
): readonly Difference[] {
  if (job !== undefined && (job.state === "queued" || (isBound(job) && job.quotas.includes(quota)))) return [];
  const state = job === undefined ? "there is no such job" : `the job is ${job.state}`;
  return [{ kind: "place", object: jobId, text: `keeps a place in the quota ${quota}, and ${state}` }];
}
