/** Notifications as deliveries hold them. */
import type { NotificationRecord } from "../../src/app/notifications/notification-record.ts";
import { newId } from "../../src/domain/ids.ts";

export function notificationRecord(fields: Partial<NotificationRecord> = {}): NotificationRecord {
  return {
    on: "failure",
    channel: "email",
    job: null,
    pipelineId: newId("pl"),
    message: { to: ["ada@mail.example"] },
    late: [],
    secrets: [],
    problem: "",
    subject: "p failed",
    text: "p failed.",
    event: {},
    wait: null,
    ...fields,
  };
}
