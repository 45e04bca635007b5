/**
 * Reads some jobs of a large run from MongoDB. The server picks them from the snapshot, so that this process parses only
 * what is asked for. Two reads are needed, the first to choose; a save between them begins the reading again.
 */
import type { Collection, Document } from "mongodb";
import type { JobRunId, RunId } from "../../../domain/ids.ts";
import type { Aggregate, JobInBrief, PartOfRun, StoredActor } from "../../ports/aggregates.ts";
import { jobsOf } from "../../ports/jobs-of.ts";
import { type AggregateDocument, HEAD_FIELDS, toHead, withEnded } from "./aggregate-documents.ts";
import type { EndedAttempts } from "../ended-attempts.ts";
import { unpacked } from "../packed-snapshots.ts";

/** After so many saves between the two reads, the whole run is read, which needs one read. */
const MAX_TRIES = 3;

interface Source {
  readonly aggregates: Collection<AggregateDocument>;
  readonly ended: EndedAttempts;
  readonly whole: () => Promise<Aggregate | undefined>;
}

type Choose = (jobs: readonly JobInBrief[]) => readonly JobRunId[];

export async function loadJobs(source: Source, runId: RunId, choose: Choose): Promise<PartOfRun | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const brief = await readBrief(source, runId);
    if (brief === undefined) return undefined;
    // The server cannot look into packed actors.
    if (brief.isPacked) break;
    const { version, hasEnded } = brief;
    const apart = hasEnded ? await source.ended.jobsInBrief(runId, version) : [];
    const stored = new Set(brief.jobs.map(({ jobId }) => jobId));
    const jobs = [...brief.jobs, ...apart.filter(({ jobId }) => !stored.has(jobId))].toSorted(
      (a, b) => a.index - b.index || a.attempt - b.attempt,
    );
    const part = await readPart(source, runId, brief, choose(jobs));
    if (part !== undefined) return { aggregate: part, jobs };
  }
  const aggregate = await source.whole();
  return aggregate && jobsOf(aggregate, choose);
}

interface Brief {
  readonly version: number;
  readonly isPacked: boolean;
  readonly hasEnded: boolean;
  readonly jobs: readonly JobInBrief[];
}

async function readBrief({ aggregates }: Source, runId: RunId): Promise<Brief | undefined> {
  const inBrief = {
    jobId: "$$actor.v.id",
    index: "$$actor.v.index.position",
    attempt: "$$actor.v.index.attempt",
    cell: { $ifNull: ["$$actor.v.state.cell", null] },
    endedAt: { $ifNull: ["$$actor.v.state.endedAt", null] },
  };
  const [found] = await aggregates
    .aggregate<Omit<Brief, "hasEnded"> & { endedApart?: boolean }>([
      { $match: { _id: runId } },
      {
        $project: {
          version: 1,
          endedApart: 1,
          isPacked: { $gt: ["$packedActors", null] },
          jobs: { $map: { input: actorsWhere({ $eq: ["$$actor.v.kind", "job"] }), as: "actor", in: inBrief } },
        },
      },
    ])
    .toArray();
  return found && { ...found, hasEnded: found.endedApart === true };
}

/** The head with the run, its approvals, these jobs and their steps; undefined when another version is stored. */
async function readPart(
  { aggregates, ended }: Source,
  runId: RunId,
  { version, hasEnded }: Brief,
  jobIds: readonly JobRunId[],
): Promise<Aggregate | undefined> {
  const ids = [...jobIds];
  const isPart = {
    $or: [
      { $in: ["$$actor.v.kind", ["run", "approval"]] },
      { $in: ["$$actor.v.id", ids] },
      { $in: ["$$actor.v.index.jobId", ids] },
    ],
  };
  const [[document], apart] = await Promise.all([
    aggregates
      .aggregate<Omit<AggregateDocument, "actors"> & { readonly part: readonly { readonly v: StoredActor }[] }>([
        { $match: { _id: runId, version } },
        { $project: { ...HEAD_FIELDS, packed: 1, part: actorsWhere(isPart) } },
      ])
      .toArray(),
    hasEnded ? ended.ofJobs(runId, version, ids) : [],
  ]);
  if (document === undefined) return undefined;
  const actors = Object.fromEntries(document.part.map(({ v }) => [v.id, v]));
  const { owed } = await unpacked({ ...document, actors });
  const { head, actors: all } = withEnded<RunId>({ ...toHead<RunId>(document), owed }, actors, apart);
  return { head, actors: all };
}

function actorsWhere(cond: Document): Document {
  return { $filter: { input: { $objectToArray: "$actors" }, as: "actor", cond } };
}
