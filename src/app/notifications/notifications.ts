/** Notifications of runs as those see them who may read the run: which are owed, were sent or have failed, and why. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { DeliveryId, PipelineId, ProjectId, RunId } from "../../domain/ids.ts";
import { NOTIFICATION_CHANNELS, NOTIFICATION_REASONS } from "../../domain/plan.ts";
import { type Delivery, NOTIFICATION_LANES } from "../../stores/ports/deliveries.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { reachProject, reachRun } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import {
  deliveriesQuery,
  deliveryFields,
  deliveryPage,
  briefView,
  oweAgain,
  TriesShape,
  triesView,
} from "../webhooks/deliveries.ts";
import { shownTarget } from "./notification-receiver.ts";
import { type NotificationRecord, recordOf } from "./notification-record.ts";

type ReadingContext = Pick<AppContext, "clock"> &
  WithStores<"documents" | "pipelines" | "rights" | "deliveries" | "aggregates">;

const { runId: _runId, ...listFields } = deliveriesQuery.shape;
export const notificationsQuery = z.strictObject(listFields);

const briefFields = {
  ...deliveryFields,
  pipelineId: id<PipelineId>(),
  on: z.enum(NOTIFICATION_REASONS),
  channel: z.enum(NOTIFICATION_CHANNELS),
  /** Of the job that it is about; null when it is about the run. */
  job: z.string().nullable(),
  /** Where it goes, without what may be a secret. */
  address: z.string(),
  /** Why its default texts stand for some of its own; empty otherwise. */
  problem: z.string(),
};
const NotificationBriefShape = shape("NotificationInList", briefFields);
export const NotificationPageShape = fields({ list: listOf(NotificationBriefShape), next: z.string().nullable() });
export const NotificationShape = shape("Notification", {
  ...briefFields,
  /** Of an e-mail; empty for the other channels. */
  subject: z.string(),
  /** What is sent, JSON for a webhook. Expressions that read secrets are shown as they are written. */
  text: z.string(),
  tries: TriesShape,
});

type NotificationPage = z.infer<typeof NotificationPageShape>;
type ListRequest = z.output<typeof notificationsQuery>;
interface OfNotification {
  readonly projectId: ProjectId;
  readonly deliveryId: DeliveryId;
}

/** The newest first. Throws `not_found`. */
export async function listRunNotifications(
  context: ReadingContext,
  caller: Caller,
  { runId, ...request }: ListRequest & { readonly runId: RunId },
): Promise<NotificationPage> {
  await reachRun(context, caller, "readNotifications", runId);
  return listOfNotifications(context, { runId }, request);
}

/** The newest first. Throws `not_found`. */
export async function listProjectNotifications(
  context: ReadingContext,
  caller: Caller,
  { projectId, ...request }: ListRequest & { readonly projectId: ProjectId },
): Promise<NotificationPage> {
  await reachProject(context, caller, "readNotifications", projectId);
  return listOfNotifications(context, { projectId }, request);
}

/** With what is sent, and with what receivers have answered. Throws `not_found`. */
export async function getNotification(
  context: ReadingContext,
  caller: Caller,
  of: OfNotification,
): Promise<z.infer<typeof NotificationShape>> {
  await reachProject(context, caller, "manageNotifications", of.projectId);
  return notificationView(await findNotification(context, of));
}

/** Owes an ended notification once more, with the same id. Throws `not_found`, and `conflict` for one that is owed already. */
export async function resendNotification(
  context: ReadingContext,
  caller: Caller,
  of: OfNotification,
): Promise<z.infer<typeof NotificationShape>> {
  const { projectId } = of;
  const { user } = await reachProject(context, caller, "manageNotifications", projectId);
  await oweAgain(context, user, await findNotification(context, of), { projectId });
  return notificationView(await findNotification(context, of));
}

async function listOfNotifications(
  { stores }: ReadingContext,
  of: { readonly runId: RunId } | { readonly projectId: ProjectId },
  { state, limit, after }: ListRequest,
): Promise<NotificationPage> {
  const found = await stores.deliveries.listNotifications(of, { state }, limit + 1, after);
  return deliveryPage(found, limit, (delivery) => notificationBrief(delivery, recordOf(delivery)));
}

async function findNotification(
  { stores }: ReadingContext,
  { projectId, deliveryId }: OfNotification,
): Promise<Delivery> {
  const found = await stores.deliveries.find(deliveryId);
  if (found?.projectId === projectId && found.lane.startsWith(NOTIFICATION_LANES)) return found;
  throw new MillraceError("not_found", `the project has no notification ${JSON.stringify(deliveryId)}`);
}

function notificationBrief(delivery: Delivery, record: NotificationRecord): z.infer<typeof NotificationBriefShape> {
  const { pipelineId, on, channel, job, problem } = record;
  return { ...briefView(delivery), pipelineId, on, channel, job, address: shownTarget(record), problem };
}

function notificationView(delivery: Delivery): z.infer<typeof NotificationShape> {
  const record = recordOf(delivery);
  const { channel, message, event } = record;
  return {
    ...notificationBrief(delivery, record),
    subject: channel === "email" ? (message.subject ?? record.subject) : "",
    text: channel === "webhook" ? JSON.stringify(message.body ?? event) : (message.text ?? record.text),
    tries: triesView(delivery),
  };
}
