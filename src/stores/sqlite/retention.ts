/** The store of the retention pruner in SQLite. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KeptPart } from "../../domain/retention.ts";
import type { GroupId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import type { RunOrigin } from "../ports/aggregates.ts";
import type { KeptRun, RetentionStore } from "../ports/retention.ts";
import type { Database, Row } from "./database.ts";
import { agentEventsOf, eventsOf, inParts, logChunksOf, type Part } from "./run-removal.ts";

/** Values of the columns `logs_gone`, `artifacts_gone` and `events_gone`; 0 means that the part is there. */
const DROPPING = 1;
const GONE = 2;

const HAS_PART: Record<KeptPart, string> = {
  runs: "",
  logs: `AND logs_gone < ${GONE}`,
  artifacts: `AND artifacts_gone < ${GONE}`,
  events: `AND events_gone < ${GONE}`,
};

/** SQLite passes each run that a query skips, in half a microsecond, and other work waits meanwhile. */
const SKIPPED_AT_ONCE = 2_000;

export function retentionStore(db: Database, { skippedAtOnce = SKIPPED_AT_ONCE } = {}): RetentionStore {
  const drop = (runId: RunId, column: "logs_gone" | "events_gone", ...parts: Part[]): Promise<void> => {
    const mark = (value: number) =>
      void db.runNow(`UPDATE aggregates SET ${column} = ? WHERE root_id = ?`, value, runId);
    return inParts(db, { first: () => mark(DROPPING), parts, last: () => mark(GONE) });
  };
  return {
    async nextPipeline(after) {
      // The pipeline of a group is empty, so this leaves groups out.
      const row = await db.get(
        "SELECT pipeline_id FROM aggregates WHERE pipeline_id > ? ORDER BY pipeline_id LIMIT 1",
        after,
      );
      return row?.["pipeline_id"] as PipelineId | undefined;
    },
    async nthNewest(newer, of) {
      const [column, id] = "pipelineId" in of ? ["pipeline_id", of.pipelineId] : ["project_id", of.projectId];
      let before = { createdAt: Number.MAX_SAFE_INTEGER, runId: "" as RunId };
      for (let left = newer; ;) {
        const skipped = Math.min(left, skippedAtOnce);
        const row = await db.get(
          `SELECT created_at, root_id, project_id FROM aggregates
           WHERE ${column} = ? AND (created_at, root_id) < (?, ?)
           ORDER BY created_at DESC, root_id DESC LIMIT 1 OFFSET ?`,
          id,
          before.createdAt,
          before.runId,
          skipped,
        );
        if (row === undefined || skipped === left) {
          return row && { ...keyOf(row), projectId: row["project_id"] as ProjectId };
        }
        before = keyOf(row);
        left -= skipped + 1;
        await nextTurn();
      }
    },
    async newestRuns(since, limit) {
      const rows = await db.all(
        `SELECT pipeline_id, project_id FROM aggregates WHERE created_at > ? AND pipeline_id <> ''
         ORDER BY created_at DESC LIMIT ?`,
        since,
        limit,
      );
      return rows.map((row) => ({
        pipelineId: row["pipeline_id"] as PipelineId,
        projectId: row["project_id"] as ProjectId,
      }));
    },
    async pageRuns(pipelineId, part, { upTo, after, limit }) {
      const rows = await db.all(
        `SELECT root_id, project_id, created_at, ended_at, settled, origin FROM aggregates
         WHERE pipeline_id = ? AND created_at <= ? AND (created_at, root_id) > (?, ?) ${HAS_PART[part]}
         ORDER BY created_at, root_id LIMIT ?`,
        pipelineId,
        upTo,
        after?.createdAt ?? Number.MIN_SAFE_INTEGER,
        after?.runId ?? "",
        limit,
      );
      return rows.map(toRun);
    },
    async dropped(runId) {
      const row = await db.get(
        "SELECT logs_gone, artifacts_gone, events_gone FROM aggregates WHERE root_id = ?",
        runId,
      );
      return (
        row && {
          logs: row["logs_gone"] !== 0,
          artifacts: row["artifacts_gone"] !== 0,
          events: row["events_gone"] !== 0,
        }
      );
    },
    dropLogs: (runId, stepRunIds) => drop(runId, "logs_gone", logChunksOf(db, stepRunIds)),
    dropEvents: (runId) => drop(runId, "events_gone", eventsOf(db, runId), agentEventsOf(db, runId)),
    noteNoArtifacts: async (runId) =>
      void (await db.run("UPDATE aggregates SET artifacts_gone = ? WHERE root_id = ?", GONE, runId)),
    async pageGroups(after, limit) {
      const rows = await db.all(
        `SELECT root_id, version, settled FROM aggregates WHERE pipeline_id = '' AND root_id > ?
         ORDER BY root_id LIMIT ?`,
        after,
        limit,
      );
      return rows.map((row) => ({
        groupId: row["root_id"] as GroupId,
        version: row["version"] as number,
        isIdle: row["settled"] === 1,
      }));
    },
    removeGroup: ({ groupId, version }) =>
      db.transaction(() => {
        const removed = db.runNow(
          `DELETE FROM aggregates WHERE root_id = ?1 AND version = ?2 AND settled = 1 AND pipeline_id = ''
             AND NOT EXISTS (SELECT 1 FROM inbox WHERE root_id = ?1 AND verdict IS NULL)
             AND NOT EXISTS (SELECT 1 FROM inbox WHERE root_id = ?1 AND verdict IS NOT NULL)`,
          groupId,
          version,
        );
        if (removed > 0) db.runNow("DELETE FROM actors WHERE root_id = ?", groupId);
        return removed > 0;
      }),
  };
}

function keyOf(row: Row) {
  return { createdAt: row["created_at"] as number, runId: row["root_id"] as RunId };
}

function toRun(row: Row): KeptRun {
  return {
    ...keyOf(row),
    endedAt: row["ended_at"] as number | null,
    settled: row["settled"] === 1,
    projectId: row["project_id"] as ProjectId,
    origin: JSON.parse(row["origin"] as string) as RunOrigin,
  };
}
