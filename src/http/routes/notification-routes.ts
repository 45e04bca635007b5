/** Routes of the notifications and the commit statuses of runs. */
import {
  CommitStatusPageShape,
  commitStatusesQuery,
  listCommitStatuses,
} from "../../app/commit-statuses/commit-statuses.ts";
import type { AppContext } from "../../app/context.ts";
import {
  NotificationChoicesShape,
  notificationChoicesBody,
  readNotificationChoices,
  replaceNotificationChoices,
} from "../../app/notifications/choices.ts";
import {
  listNotificationsOfProject,
  listNotificationsOfRun,
  NotificationDetailShape,
  NotificationPageShape,
  NotificationShape,
  notificationsQuery,
  readNotificationOfProject,
  readNotificationOfRun,
  resendNotification,
} from "../../app/notifications/notifications.ts";
import type { z } from "zod";
import { asId, type DeliveryId } from "../../domain/ids.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Notifications");

/** The choices alone can be changed; `since` follows from them. */
const tagged = ({ choices }: z.infer<typeof NotificationChoicesShape>) => choices;

export const NOTIFICATION_ROUTES = [
  route({
    method: "GET",
    path: "/me/notifications",
    name: "readNotificationChoices",
    about: "Reads what the caller has chosen to be told of by e-mail.",
    answer: NotificationChoicesShape,
    tagged,
    handle: (context, { caller }) => readNotificationChoices(context, caller),
  }),
  route({
    method: "PUT",
    path: "/me/notifications",
    name: "replaceNotificationChoices",
    about:
      "Replaces what the caller has chosen to be told of by e-mail. Nothing that happened before a choice is told.",
    body: notificationChoicesBody,
    answer: NotificationChoicesShape,
    errors: ["conflict"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, body, match }) => replaceNotificationChoices(context, caller, { ...body, match }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/notifications",
    name: "listNotificationsOfRun",
    about: "Lists the notifications of a run, the newest first, and what became of them.",
    query: notificationsQuery,
    answer: NotificationPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listNotificationsOfRun(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/notifications/:notificationId",
    name: "readNotificationOfRun",
    about: "Reads a notification of a run with its latest tries: when they were, and what was answered.",
    answer: NotificationDetailShape,
    errors: ["not_found"],
    handle: (context, { caller, params: { runId, notificationId } }) =>
      readNotificationOfRun(context, caller, { runId, notificationId: asId<DeliveryId>(notificationId) }),
  }),
  route({
    method: "POST",
    path: "/pipelines/runs/:runId/notifications/:notificationId/resend",
    name: "resendNotification",
    about: "Sends an ended notification of a run once more, with the same id.",
    answer: NotificationShape,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params: { runId, notificationId } }) =>
      resendNotification(context, caller, { runId, notificationId: asId<DeliveryId>(notificationId) }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/commit-statuses",
    name: "listCommitStatuses",
    about:
      "Lists what the host of its repository is told of a run and its jobs, the newest first, and whether it has it.",
    query: commitStatusesQuery,
    answer: CommitStatusPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listCommitStatuses(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/notifications",
    name: "listNotificationsOfProject",
    about: "Lists the notifications of all runs of a project, the newest first.",
    query: notificationsQuery,
    answer: NotificationPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) =>
      listNotificationsOfProject(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/notifications/:notificationId",
    name: "readNotificationOfProject",
    about: "Reads a notification of a run of the project with its latest tries.",
    answer: NotificationDetailShape,
    errors: ["not_found"],
    handle: (context, { caller, params: { projectId, notificationId } }) =>
      readNotificationOfProject(context, caller, { projectId, notificationId: asId<DeliveryId>(notificationId) }),
  }),
];
