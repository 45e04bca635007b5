/** Removes the records of a run from MongoDB. */
import type { RemoveRun } from "../ports/removals.ts";
import type { Connection } from "./connection.ts";
import type { CollectionName } from "./cluster/sharding.ts";
import { ofRun } from "./runs/run-images.ts";

const IDS_AT_ONCE = 1_000;

export function runRemoval(connection: Connection): RemoveRun {
  const removeByIds = async (collection: CollectionName, ids: readonly string[]): Promise<void> => {
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      await connection.collection(collection).deleteMany({ _id: { $in: ids.slice(at, at + IDS_AT_ONCE) } });
    }
  };
  return async ({ runId, jobIds, stepRunIds, approvalIds }) => {
    await removeByIds("aggregates", [runId]);
    await removeByIds("job_runs", jobIds);
    await removeByIds("step_runs", stepRunIds);
    await removeByIds("approvals", approvalIds);
    await removeByIds("plans", [runId]);
    // All attempts of a job share one document, so there are no more documents than job ids.
    await removeByIds(
      "job_specs",
      jobIds.map((_, index) => `${runId}:${index}`),
    );
    await connection.collection("events").deleteMany({ runId });
    await connection.collection("agent_events").deleteMany({ owner: runId });
    await connection.collection("step_outputs").deleteMany({ runId });
    await connection.collection("step_notes").deleteMany({ runId });
    await connection.collection("run_images").deleteMany(ofRun(runId));
    await connection.collection("ended_attempts").deleteMany({ rootId: runId });
    // Before the chunks: who joins some of them meanwhile looks at the head afterwards.
    await removeByIds("log_heads", stepRunIds);
    for (const stepRunId of stepRunIds) {
      await connection.collection("log_chunks").deleteMany({ stepRunId });
    }
    await connection.collection("inbox").deleteMany({ rootId: runId, answered: false });
    await removeByIds("inbox_counters", [runId]);
  };
}
