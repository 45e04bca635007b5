/** The statements that write the head and the actors of an aggregate. */
import type { RowInsert } from "../insert-rows.ts";

export const INSERT_HEAD = `
  INSERT INTO aggregates (root_id, shard, schema, version, final, settled, owes, bound, event_number, next_due_at, owed,
    pipeline_id, project_id, status, created_at, started_at, ended_at, waits, origin)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
  RETURNING EXISTS (SELECT 1 FROM pipeline_deletions AS deletions WHERE deletions.pipeline_id = aggregates.pipeline_id)
    AS is_being_deleted`;
/**
 * SQLite takes an entry out of each index that has a column which is set, and puts it in again, even when the value stays. Three
 * indexes have the status, and most saves keep it.
 */
const updateHead = (columns: string): string => `
  UPDATE aggregates SET schema = ?, version = ?, final = ?, settled = ?, owes = ?, bound = ?, event_number = ?,
    next_due_at = ?, owed = ?, started_at = ?, ended_at = ?, waits = ?${columns}
  WHERE root_id = ? AND version = ?`;
export const UPDATE_HEAD = updateHead(", status = ?");
export const UPDATE_HEAD_BUT_STATUS = updateHead("");
export const UPSERT_ACTORS: RowInsert = {
  insert: `INSERT INTO actors (id, root_id, shard, kind, rank, position, job_id, status, attempt, agent_id, state,
    pipeline_id, project_id, requested_at)`,
  conflict: `ON CONFLICT (id) DO UPDATE
    SET status = excluded.status, agent_id = excluded.agent_id, state = excluded.state`,
};
/** Of jobs that deploy. What they deploy to is known from their start on. */
export const UPSERT_DEPLOYING: RowInsert = {
  insert: `INSERT INTO actors (id, root_id, shard, kind, rank, position, job_id, status, attempt, agent_id, state,
    pipeline_id, project_id, requested_at, environment)`,
  conflict: `ON CONFLICT (id) DO UPDATE
    SET status = excluded.status, agent_id = excluded.agent_id, state = excluded.state, pipeline_id = excluded.pipeline_id,
      project_id = excluded.project_id, requested_at = excluded.requested_at, environment = excluded.environment`,
};
