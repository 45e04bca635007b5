/** With `onConflict: reject`, a trigger takes the place in the concurrency group before it stores the run. */
import { MillraceError } from "../../domain/errors.ts";
import { commandIdOf, groupIdOf } from "../../domain/ids.ts";
import { storeAndWait } from "../commands/commands.ts";
import type { TriggeringContext } from "./context.ts";
import type { PlannedRun } from "./create-run.ts";

/**
 * Takes a place in its group for a run that is not stored yet and whose pipeline says `onConflict: reject`; does
 * nothing for other runs, nor for one that needs an approval first: that run asks for its place when it has been approved.
 * A repeat gets the same answer. Throws `conflict`, which names the run that holds the place, and `unavailable` when the group does not answer within 5 s. If the run is never stored, the group reconciler frees
 * its place.
 */
export async function reserveGroupPlace(context: TriggeringContext, { runId, plan }: PlannedRun): Promise<void> {
  const { projectId, group, approval } = plan;
  if (group?.onConflict !== "reject" || approval !== undefined) return;
  const groupId = groupIdOf(projectId, group.name);
  const member = { runId, job: null, cell: null };
  const verdict = await storeAndWait(context, {
    id: commandIdOf("reserve", groupId, runId),
    rootId: groupId,
    body: { kind: "enter", member, projectId, group, isReservation: true },
  });
  const name = JSON.stringify(group.name);
  if (verdict === null) {
    throw new MillraceError(
      "unavailable",
      `no worker has answered for the group ${name} within 5 s: repeat the call with the same requestId`,
    );
  }
  if (verdict.outcome === "accepted") return;
  const holder = verdict.by == null ? "other runs have its places" : `run ${verdict.by} has its place`;
  throw new MillraceError(
    "conflict",
    `the group ${name} is full and the pipeline does not wait (onConflict: reject): ${holder}; try again when it has ended, ` +
      "or stop it",
  );
}
