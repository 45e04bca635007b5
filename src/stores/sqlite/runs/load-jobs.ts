/** Reads some jobs of a large run from the embedded store, at a cost that hardly depends on the others. */
import type { JobRunId, RunId } from "../../../domain/ids.ts";
import type { Aggregate, JobInBrief, PartOfRun, StoredActor } from "../../ports/aggregates.ts";
import { stateText } from "../../format/packed-states.ts";
import { RANK, toActor, toHead } from "./rows.ts";
import type { Database, ReadNow } from "../database.ts";

/** Positions of the plan whose jobs are read between two pauses; the rows take about three milliseconds. */
const POSITIONS_AT_ONCE = 500;
/** Chosen jobs that are read between two pauses, with their steps. */
const JOBS_AT_ONCE = 50;

export function loadJobs(
  db: Database,
  runId: RunId,
  choose: (jobs: readonly JobInBrief[]) => readonly JobRunId[],
  pause: () => Promise<void>,
): Promise<PartOfRun | undefined> {
  return db.readInPieces(async (all) => {
    const [head] = all("SELECT * FROM aggregates WHERE root_id = ?", runId);
    if (head === undefined) return undefined;
    const jobs = await jobsInBrief(all, runId, pause);
    const ofRank = (rank: number) =>
      all("SELECT * FROM actors WHERE root_id = ? AND rank = ? ORDER BY position, attempt", runId, rank).map(toActor);
    const chosen = choose(jobs);
    const chosenJobs = [];
    const steps = [];
    for (const [at, jobId] of chosen.entries()) {
      chosenJobs.push(...all("SELECT * FROM actors WHERE id = ? AND root_id = ?", jobId, runId).map(toActor));
      const ofJob = "SELECT * FROM actors WHERE root_id = ? AND rank = ? AND job_id = ? ORDER BY position, attempt";
      steps.push(...all(ofJob, runId, RANK.step, jobId).map(toActor));
      if (at % JOBS_AT_ONCE === JOBS_AT_ONCE - 1) await pause();
    }
    const actors = [...ofRank(RANK.run), ...chosenJobs, ...steps, ...ofRank(RANK.approval)];
    return { aggregate: { head: toHead<RunId>(head), actors }, jobs };
  }, "short");
}

/** The runs that have no more than `atMost` actors, in three statements for all. */
export function loadSmall(db: Database, runIds: readonly RunId[], atMost: number): Promise<readonly Aggregate[]> {
  const inRuns = "root_id IN (SELECT value FROM json_each(?))";
  return db.read(() => {
    const sizes = `SELECT root_id FROM actors WHERE ${inRuns} GROUP BY root_id HAVING count(*) <= ?`;
    const small = JSON.stringify(db.allNow(sizes, JSON.stringify(runIds), atMost).map((row) => row["root_id"]));
    const actors = new Map<string, StoredActor[]>();
    const ordered = "ORDER BY root_id, rank, job_id, position, attempt";
    for (const row of db.allNow(`SELECT * FROM actors WHERE ${inRuns} ${ordered}`, small)) {
      const ofRun = actors.get(row["root_id"] as string) ?? [];
      actors.set(row["root_id"] as string, ofRun);
      ofRun.push(toActor(row));
    }
    const heads = db.allNow(`SELECT * FROM aggregates WHERE ${inRuns}`, small);
    return heads.map((row) => ({ head: toHead<RunId>(row), actors: actors.get(row["root_id"] as string)! }));
  });
}

/**
 * One text for some hundred jobs: a row for each of them would cost as much as the rest. Ids need no escapes. Few states are
 * packed, and SQLite cannot read their fields.
 */
const IN_BRIEF = `
  SELECT group_concat('["' || id || '",' || position || ',' || attempt || ',' || fields || ']') AS list
  FROM (SELECT id, position, attempt, iif(typeof(state) = 'blob', '"' || hex(state) || '"',
      json_extract(state, '$.cell', '$.endedAt')) AS fields FROM actors
    WHERE root_id = ? AND rank = ? AND job_id IS NULL AND position >= ? AND position < ? ORDER BY position, attempt)`;

type Brief = readonly [JobRunId, index: number, attempt: number, fields: Fields | string];
type Fields = readonly [cell: number | null, endedAt: number | null];

async function jobsInBrief(all: ReadNow, runId: RunId, pause: () => Promise<void>): Promise<readonly JobInBrief[]> {
  const [last] = all(
    "SELECT max(position) AS position FROM actors WHERE root_id = ? AND rank = ? AND job_id IS NULL",
    runId,
    RANK.job,
  );
  const jobs: JobInBrief[] = [];
  for (let from = 0; from <= Number(last!["position"] ?? -1); from += POSITIONS_AT_ONCE) {
    const [row] = all(IN_BRIEF, runId, RANK.job, from, from + POSITIONS_AT_ONCE);
    const some = JSON.parse(`[${(row!["list"] ?? "") as string}]`) as readonly Brief[];
    for (const [jobId, index, attempt, fields] of some) {
      const [cell, endedAt] = typeof fields === "string" ? fieldsOf(fields, runId, jobId) : fields;
      jobs.push({ jobId, index, cell, attempt, endedAt });
    }
    await pause();
  }
  return jobs;
}

function fieldsOf(packed: string, runId: RunId, jobId: JobRunId): Fields {
  const json = stateText(Buffer.from(packed, "hex"), { rootId: runId, id: jobId, jobId: null });
  const { cell, endedAt } = JSON.parse(json) as Pick<JobInBrief, "cell" | "endedAt">;
  return [cell, endedAt];
}
