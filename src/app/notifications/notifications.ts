/** Notifications as those see them who may read the run: what became of each, and sending one once more. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { DeliveryId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import { NOTIFICATION_CHANNELS, NOTIFICATION_REASONS } from "../../domain/plan.ts";
import { type Delivery, DELIVERY_STATES, NOTIFICATION_LANES } from "../../stores/ports/deliveries.ts";
import type { Caller } from "../identity/access.ts";
import { authoriseOnRun, reachProject, reachRun } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import {
  deliveryPage,
  oweOnceMore,
  outcomeFields,
  outcomeOf,
  pageFields,
  triesField,
  triesOf,
} from "../webhooks/delivery-views.ts";
import type { NotificationContext } from "./context.ts";
import { recordOf } from "./notification-record.ts";
import { shownTarget } from "./notification-receiver.ts";

export const notificationsQuery = z.strictObject(pageFields);

const notificationFields = () => ({
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
  ...outcomeFields,
  /** What is wrong with its texts; empty when nothing is. */
  problem: z.string(),
});
export const NotificationShape = shape("Notification", notificationFields);
export const NotificationDetailShape = shape("NotificationDetail", () => ({
  ...notificationFields(),
  tries: triesField,
}));
export const NotificationPageShape = fields(() => ({ list: listOf(NotificationShape), next: z.string().nullable() }));

type NotificationView = z.infer<typeof NotificationShape>;
type NotificationDetail = z.infer<typeof NotificationDetailShape>;
type OfNotifications = { readonly runId: RunId } | { readonly projectId: ProjectId };
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

/** One of a run, with its latest tries. Throws `not_found`. */
export async function readNotificationOfRun(
  context: NotificationContext,
  caller: Caller,
  { runId, notificationId }: { readonly runId: RunId; readonly notificationId: DeliveryId },
): Promise<NotificationDetail> {
  await authoriseOnRun(context, caller, "readRuns", runId);
  return detailOf(await findNotification(context, { runId }, notificationId));
}

/** One of a project, with its latest tries. Throws `not_found`. */
export async function readNotificationOfProject(
  context: NotificationContext,
  caller: Caller,
  { projectId, notificationId }: { readonly projectId: ProjectId; readonly notificationId: DeliveryId },
): Promise<NotificationDetail> {
  await reachProject(context, caller, "readRuns", projectId);
  return detailOf(await findNotification(context, { projectId }, notificationId));
}

/** Owes one that has ended once more, with the same id. Throws `not_found`, and `conflict` for one that is owed already. */
export async function resendNotification(
  context: NotificationContext,
  caller: Caller,
  { runId, notificationId }: { readonly runId: RunId; readonly notificationId: DeliveryId },
): Promise<NotificationView> {
  const { user } = await reachRun(context, caller, "controlRun", runId);
  const { projectId, type } = await findNotification(context, { runId }, notificationId);
  const change = { kind: "delivery", id: notificationId, area: { projectId }, after: { type, runId } } as const;
  await recorded(user, change, () => oweOnceMore(context, { deliveryId: notificationId }, "notification"));
  return viewOf(await findNotification(context, { runId }, notificationId));
}

async function pageOf(
  { stores }: NotificationContext,
  of: OfNotifications,
  { state, limit, after }: PageRequest,
): Promise<z.infer<typeof NotificationPageShape>> {
  const found = await stores.deliveries.listNotifications(of, { state }, limit + 1, after);
  return deliveryPage(found, limit, viewOf);
}

async function findNotification(
  { stores }: NotificationContext,
  of: OfNotifications,
  id: DeliveryId,
): Promise<Delivery> {
  const found = await stores.deliveries.find(id);
  const isOfIt = "runId" in of ? found?.runId === of.runId : found?.projectId === of.projectId;
  if (found !== undefined && isOfIt && found.lane.startsWith(NOTIFICATION_LANES)) return found;
  throw new MillraceError(
    "not_found",
    `the ${"runId" in of ? "run" : "project"} has no notification ${JSON.stringify(id)}`,
  );
}

function detailOf(delivery: Delivery): NotificationDetail {
  return { ...viewOf(delivery), tries: triesOf(delivery) };
}

function viewOf(delivery: Delivery): NotificationView {
  const { deliveryId, runId, projectId, state } = delivery;
  const record = recordOf(delivery);
  const { on, job, channel, pipelineId, problem } = record;
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
    ...outcomeOf(delivery),
    problem,
  };
}
