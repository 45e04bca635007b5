/** What went of a run before the run itself did: whoever asks for it is told, and does not wait. */
import { MillraceError } from "../../domain/errors.ts";
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../find.ts";

type Ports = WithStores<"retention">;

/** Throws `not_found` when the log of a step of the run was removed by the rules of retention, or the run was. */
export async function requireLog({ stores }: Ports, runId: RunId, stepRunId: StepRunId): Promise<void> {
  const dropped = await stores.retention.dropped(runId);
  if (dropped === undefined) throw noRun(runId, undefined);
  if (!dropped.logs) return;
  throw new MillraceError(
    "not_found",
    `the log of step run ${stepRunId} is older than the project keeps logs, and was removed: its status can still be read`,
  );
}

/** Throws `not_found` when the events of the run were removed by the rules of retention, or the run was. */
export async function requireEvents({ stores }: Ports, runId: RunId): Promise<void> {
  const dropped = await stores.retention.dropped(runId);
  if (dropped === undefined) throw noRun(runId, undefined);
  if (!dropped.events) return;
  throw new MillraceError(
    "not_found",
    `the events of run ${runId} are older than the project keeps events, and were removed: read the run as it ended instead`,
  );
}
