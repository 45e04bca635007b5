/** Notifications as those see them who may read the run: what became of each, and sending one once more. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { DeliveryId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import { NOTIFICATION_CHANNELS, NOTIFICATION_REASONS } from "../../domain/plan.ts";
import { type Delivery, DELIVERY_STATES, NOTIFICATION_LANES } from "../../stores/ports/deliveries.ts";
import type { Caller } from "../identity/access.ts";
import { afterField, cursorOf } from "../lists.ts";
import { authoriseOnRun, reachProject, reachRun } from "../reaching.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { NotificationContext } from "./context.ts";
import { recordOf } from "./notification-record.ts";
import { shownTarget } from "./notification-receiver.ts";

export const notificationsQuery = z.strictObject({
  state: z.enum(DELIVERY_STATES).optional(),
  after: afterField.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export const NotificationShape = shape("Notification", {
  notificationId: id<DeliveryId>(),
  runId: id<RunId>(),
  pipelineId: id<PipelineId>(),
  projectId: id<ProjectId>(),
  /** What it tells of. */
  on: z.enum(NOTIFICATION_REASONS),
  /** The name of the job; null when it is about the run. */
  job: z.string().nullable(),
  channel: z.enum(NOTIFICATION_CHANNELS),
  /** To whom, without what is secret: `***` for an address that a secret holds. */
  target: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: wholeNumber,
  /** Of the last answer; null without one. */
  status: z.number().int().nullable(),
  /** Why the last try failed; empty otherwise. */
  error: z.string(),
  /** What is wrong with its texts; empty when nothing is. */
  problem: z.string(),
  createdAt: time,
  /** When it is tried next; null when it is not owed. */
  nextTry: time.nullable(),
});
export const NotificationPageShape = fields({ list: listOf(NotificationShape), next: z.string().nullable() });

type NotificationView = z.infer<typeof NotificationShape>;
type PageRequest = z.output<typeof notificationsQuery>;

/** Those of a run, the newest first. Throws `not_found`. */
export async function listNotificationsOfRun(
  context: NotificationContext,
  caller: Caller,
  { runId, ...request }: PageRequest & { readonly runId: RunId },
): Promise<z.infer<typeof NotificationPageShape>> {
  await authoriseOnRun(context, caller, "readRuns", runId);
  return pageOf(context, { runId }, request);
}

/** Those of all runs of a project, the newest first. Throws `not_found`. */
export async function listNotificationsOfProject(
  context: NotificationContext,
  caller: Caller,
  { projectId, ...request }: PageRequest & { readonly projectId: ProjectId },
): Promise<z.infer<typeof NotificationPageShape>> {
  await reachProject(context, caller, "readRuns", projectId);
  return pageOf(context, { projectId }, request);
}

/** Owes one that has ended once more, with the same id. Throws `not_found`, and `conflict` for one that is owed already. */
export async function resendNotification(
  context: NotificationContext,
  caller: Caller,
  { runId, notificationId }: { readonly runId: RunId; readonly notificationId: DeliveryId },
): Promise<NotificationView> {
  const { user } = await reachRun(context, caller, "controlRun", runId);
  const { projectId, type } = await findNotification(context, runId, notificationId);
  const change = { kind: "delivery", id: notificationId, area: { projectId }, after: { type, runId } } as const;
  await recorded(user, change, async () => {
    if (await context.stores.deliveries.owe(notificationId, context.clock.now())) return;
    throw new MillraceError("conflict", "the notification is owed already: it is sent once its time has come");
  });
  return viewOf(await findNotification(context, runId, notificationId));
}

async function pageOf(
  { stores }: NotificationContext,
  of: { readonly runId: RunId } | { readonly projectId: ProjectId },
  { state, limit, after }: PageRequest,
): Promise<z.infer<typeof NotificationPageShape>> {
  const found = await stores.deliveries.listNotifications(of, { state }, limit + 1, after);
  const list = found.slice(0, limit);
  const last = found.length > limit ? list.at(-1) : undefined;
  return {
    list: list.map(viewOf),
    next: last === undefined ? null : cursorOf({ at: last.createdAt, id: last.deliveryId }),
  };
}

async function findNotification({ stores }: NotificationContext, runId: RunId, id: DeliveryId): Promise<Delivery> {
  const found = await stores.deliveries.find(id);
  if (found?.runId === runId && found.lane.startsWith(NOTIFICATION_LANES)) return found;
  throw new MillraceError("not_found", `the run has no notification ${JSON.stringify(id)}`);
}

function viewOf(delivery: Delivery): NotificationView {
  const { deliveryId, runId, projectId, state, attempts, tries, createdAt, dueAt } = delivery;
  const record = recordOf(delivery);
  const { on, job, channel, pipelineId, problem } = record;
  const last = tries.at(-1);
  return {
    notificationId: deliveryId,
    runId,
    pipelineId,
    projectId,
    on,
    job,
    channel,
    target: shownTarget(record),
    state,
    attempts,
    status: last?.status ?? null,
    error: last?.error ?? "",
    problem,
    createdAt: rfc3339(createdAt),
    nextTry: state === "owed" ? rfc3339(dueAt) : null,
  };
}
