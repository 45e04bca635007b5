/** Rows of heads and actors, as the port answers them. */
import type { AgentId, JobRunId, PipelineId, ProjectId, RootId, RunId } from "../../../domain/ids.ts";
import type { AggregateHead, StoredActor } from "../../ports/aggregates.ts";
import { stateText } from "../../format/packed-states.ts";
import type { Row } from "../database.ts";

/** The order of the kinds in a load. */
export const RANK = { run: 0, job: 1, step: 2, approval: 3, group: 4, schedule: 5, timetable: 6 } as const;

export function toHead<Root extends RootId = RunId>(row: Row): AggregateHead<Root> {
  const fields = row as Record<string, never>;
  return {
    rootId: fields["root_id"]!,
    shard: fields["shard"]!,
    schema: fields["schema"]!,
    version: fields["version"]!,
    final: row["final"] === 1,
    settled: row["settled"] === 1,
    eventNumber: fields["event_number"]!,
    nextDueAt: fields["next_due_at"]!,
    owed: row["owes"] === 1 ? JSON.parse(fields["owed"]!) : [],
    summary: {
      pipelineId: fields["pipeline_id"]!,
      projectId: fields["project_id"]!,
      status: fields["status"]!,
      createdAt: fields["created_at"]!,
      startedAt: fields["started_at"]!,
      endedAt: fields["ended_at"]!,
      bound: row["bound"] === 1,
      waits: row["waits"] ? JSON.parse(fields["waits"]!) : null,
    },
    origin: JSON.parse(fields["origin"]!),
  };
}

export function toActor(row: Row): StoredActor {
  return toActorOf(row["root_id"] as string, row);
}

/** The actor of an aggregate whose row was read without the column of its root. */
export function toActorOf(rootId: string, row: Row): StoredActor {
  const requestedAt = row["requested_at"] as number | null | undefined;
  return {
    kind: row["kind"] as StoredActor["kind"],
    id: row["id"] as string,
    state: JSON.parse(stateText(row["state"] as string | Uint8Array, idsOf(row, rootId))) as unknown,
    index: {
      position: row["position"] as number,
      jobId: row["job_id"] as JobRunId | null,
      status: row["status"] as string,
      attempt: row["attempt"] as number,
      agentId: row["agent_id"] as AgentId | null,
      ...(row["kind"] === "approval" &&
        typeof requestedAt === "number" && {
          approval: {
            pipelineId: row["pipeline_id"] as PipelineId,
            projectId: row["project_id"] as ProjectId,
            requestedAt,
          },
        }),
    },
  };
}

function idsOf(row: Row, rootId: string) {
  return { rootId, id: row["id"] as string, jobId: row["job_id"] as string | null };
}
