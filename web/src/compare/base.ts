/** The run that a run is compared with when none is named. */
import { api } from "../api/client.ts";
import type { Run } from "../run/run-view.ts";

/** So many runs are searched where the run has no ref, since the API cannot ask for that. */
const SEARCHED = 100;

/** The id of the newest run of the pipeline that succeeded on the same ref before this one; null when there is none. */
export async function findBase(
  { runId, pipelineId, createdAt, trigger: { ref } }: Pick<Run, "runId" | "pipelineId" | "createdAt" | "trigger">,
  signal: AbortSignal,
): Promise<string | null> {
  const { list } = await api.get("/runs", {
    query: {
      pipelineId,
      status: "success",
      before: createdAt,
      ...(ref === "" ? { limit: SEARCHED } : { ref, limit: 2 }),
    },
    signal,
  });
  return list.find((run) => run.runId !== runId && run.trigger.ref === ref)?.runId ?? null;
}
