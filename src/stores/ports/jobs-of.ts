/** What `loadJobs` answers, made from a whole aggregate. Pure. */
import type { JobRunId } from "../../domain/ids.ts";
import type { Aggregate, JobInBrief, PartOfRun } from "./aggregates.ts";

/** `aggregate`: in the order of `load`. */
export function jobsOf(aggregate: Aggregate, choose: (jobs: readonly JobInBrief[]) => readonly JobRunId[]): PartOfRun {
  const { head, actors } = aggregate;
  const jobs = actors.flatMap((actor): JobInBrief[] => {
    if (actor.kind !== "job") return [];
    const { cell = null, endedAt = null } = actor.state as Partial<Pick<JobInBrief, "cell" | "endedAt">>;
    const { position: index, attempt } = actor.index;
    return [{ jobId: actor.id as JobRunId, index, cell, attempt, endedAt }];
  });
  const chosen = new Set<string | null>(choose(jobs));
  const isPart = (kind: string) => kind === "run" || kind === "approval";
  const part = actors.filter(({ kind, id, index }) => isPart(kind) || chosen.has(id) || chosen.has(index.jobId));
  return { aggregate: { head, actors: part }, jobs };
}
