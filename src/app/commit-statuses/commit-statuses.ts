/** Commit statuses as those see them who may read the run. */
import { z } from "zod";
import type { DeliveryId, RunId } from "../../domain/ids.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import { STATUS_STATES } from "../../providers/provider.ts";
import { type Delivery, DELIVERY_STATES, RUN_STATUS_LANES, STATUS_LANES } from "../../stores/ports/deliveries.ts";
import type { WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { authoriseOnRun } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import { deliveryPage, outcomeFields, outcomeOf, pageFields } from "../webhooks/delivery-views.ts";
import type { StatusReadContext } from "./context.ts";
import { statusOf } from "./status-record.ts";

export const commitStatusesQuery = z.strictObject(pageFields);

const { status: _, ...outcome } = outcomeFields;
export const CommitStatusShape = shape("CommitStatus", () => ({
  statusId: id<DeliveryId>(),
  commit: z.string(),
  name: z.string(),
  /** Name of the job; null when it is about the run. */
  job: z.string().nullable(),
  /** What it says. */
  status: z.enum(STATUS_STATES),
  description: z.string(),
  /** `owed` until the host has it; `failed` when the host takes it never. */
  state: z.enum(DELIVERY_STATES),
  ...outcome,
}));
export const CommitStatusPageShape = fields(() => ({ list: listOf(CommitStatusShape), next: z.string().nullable() }));

export type CommitStatusView = z.infer<typeof CommitStatusShape>;

/** Those of a run, the newest first; those that were overtaken are left out. Throws `not_found`. */
export async function listCommitStatuses(
  context: StatusReadContext,
  caller: Caller,
  { runId, state, limit, after }: z.output<typeof commitStatusesQuery> & { readonly runId: RunId },
): Promise<z.infer<typeof CommitStatusPageShape>> {
  await authoriseOnRun(context, caller, "readRuns", runId);
  const found = await context.stores.deliveries.listOfRun(runId, STATUS_LANES, { state }, limit + 1, after);
  return deliveryPage(found, limit, viewOf);
}

/** The newest status of a run itself; null for a run that is not reported. Costs nothing for a run without a commit. */
export async function newestStatus(
  { stores }: WithStores<"deliveries">,
  runId: RunId,
  commitSha: string,
): Promise<CommitStatusView | null> {
  if (!FULL_COMMIT.test(commitSha)) return null;
  const [newest] = await stores.deliveries.listOfRun(runId, RUN_STATUS_LANES, {}, 1, undefined);
  return newest === undefined ? null : viewOf(newest);
}

function viewOf(delivery: Delivery): CommitStatusView {
  const { commit, name, job, state, description } = statusOf(delivery);
  const { status: _, ...became } = outcomeOf(delivery);
  return {
    statusId: delivery.deliveryId,
    commit,
    name,
    job,
    status: state,
    description,
    state: delivery.state,
    ...became,
  };
}
