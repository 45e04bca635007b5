/** Routes of the notifications of runs. */
import {
  getNotification,
  listProjectNotifications,
  listRunNotifications,
  NotificationPageShape,
  NotificationShape,
  notificationsQuery,
  resendNotification,
} from "../../app/notifications/notifications.ts";
import type { AppContext } from "../../app/context.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Notifications");

export const NOTIFICATION_ROUTES = [
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/notifications",
    name: "listRunNotifications",
    about: "Lists the notifications of a run that are owed, sent or failed, the newest first.",
    query: notificationsQuery,
    answer: NotificationPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listRunNotifications(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/notifications",
    name: "listProjectNotifications",
    about: "Lists the notifications of all runs of a project, the newest first.",
    query: notificationsQuery,
    answer: NotificationPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listProjectNotifications(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/notifications/:deliveryId",
    name: "getNotification",
    about: "Reads a notification with its texts, and its latest tries with their answers.",
    answer: NotificationShape,
    errors: ["not_found"],
    handle: (context, { caller, params }) => getNotification(context, caller, params),
  }),
  route({
    method: "POST",
    path: "/projects/:projectId/notifications/:deliveryId/resend",
    name: "resendNotification",
    about: "Sends an ended notification once more, with the same id.",
    answer: NotificationShape,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params }) => resendNotification(context, caller, params),
  }),
];
