/** What a message of the channel of runs changes in a list. Pure. */
import type { Schemas } from "../../../clients/typescript/src/api-types.ts";

/** The data of a message `run`. */
export type RunState = Pick<Schemas["Run"], "runId" | "status" | "waitingFor">;

/** The list with the new state of one run; a run that is not listed changes nothing. */
export function applyRunState<R extends RunState>(list: readonly R[], state: RunState): readonly R[] {
  return list.map((run) =>
    run.runId === state.runId ? { ...run, status: state.status, waitingFor: state.waitingFor } : run,
  );
}
