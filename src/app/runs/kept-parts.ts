/**
 * Checks that a run still has its log and its events. Retention may delete these parts before the run itself; a reader
 * then gets an error and does not wait for them.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../lookups.ts";

/** Throws `not_found` when retention has deleted the logs of the run, or the run itself. */
export async function requireKeptLog(
  { stores }: WithStores<"retention">,
  runId: RunId,
  stepRunId: StepRunId,
): Promise<void> {
  const dropped = await stores.retention.dropped(runId);
  if (dropped === undefined) throw noRun(runId, undefined);
  if (!dropped.logs) return;
  throw new MillraceError(
    "not_found",
    `the log of step run ${stepRunId} is older than the project keeps logs, and was removed: its status can still be read`,
  );
}

/** Throws `not_found` when retention has deleted the events of the run, or the run itself. */
export async function requireKeptEvents({ stores }: WithStores<"retention">, runId: RunId): Promise<void> {
  const dropped = await stores.retention.dropped(runId);
  if (dropped === undefined) throw noRun(runId, undefined);
  if (!dropped.events) return;
  throw new MillraceError(
    "not_found",
    `the events of run ${runId} are older than the project keeps events, and were removed: read the run as it ended instead`,
  );
}
