/**
 * Turns stored events of runs into the notifications that the `notify` blocks of their plans, and the choices of users, ask for. A wait is owed from its
 * beginning, for the time at which it has lasted long enough; whether it still lasts is looked up then.
 */
import { hash } from "node:crypto";
import type { RunEvent } from "../../domain/events.ts";
import type { ProjectId, RunId, TenantId } from "../../domain/ids.ts";
import type { NotificationMessage, NotificationReason, PlannedNotification } from "../../domain/plan.ts";
import type { Delivery, UntoldRun } from "../../stores/ports/deliveries.ts";
import type { PlanStore } from "../../stores/ports/plans.ts";
import { type CloudEvent, cloudEvent } from "../events/cloud-event.ts";
import { loopShare } from "../loop-share.ts";
import { RecentlyRead } from "../recently-read.ts";
import { deliveryIdOf, neverTried } from "../webhooks/webhook-rules.ts";
import { askedAt, type ChosenBy, chooserOf } from "./chosen.ts";
import type { NotificationContext } from "./context.ts";
import { notificationLane, type NotificationRecord, type ToldUser } from "./notification-record.ts";
import { notificationValuesOf, type NotificationFacts } from "./notification-texts.ts";
import { isAbout, type Occasion, occasionsOf, reasonToSend, waitKey } from "./occasions.ts";
import { renderNotification } from "./render-notification.ts";
import { approvalOf, failuresOf, hadFailedBefore, jobOf, runOf, type Scene, sceneOf, withJobFacts } from "./scene.ts";

const REMEMBERED_RUNS = 500;

/** What plans say of notifications. By store, so that each node of a test has its own. */
const memories = new WeakMap<PlanStore, RecentlyRead<readonly PlannedNotification[]>>();

export interface Place {
  readonly tenantId: TenantId;
  readonly projectId: ProjectId;
}

/** The deliveries of the notifications that these events of one run ask for, and those that users have chosen. */
export async function notificationsOf(
  context: NotificationContext,
  { runId }: Pick<UntoldRun, "runId">,
  events: readonly RunEvent[],
  place: Place,
  choices: readonly ChosenBy[] = [],
): Promise<readonly Delivery[]> {
  const found = events.flatMap(occasionsOf);
  if (found.length === 0) return [];
  const notifications = await plannedNotifications(context, runId);
  const occasions = found.filter(
    (occasion) =>
      notifications.some((one) => reasonToSend(one, occasion, true) !== undefined) ||
      choices.some(({ choice }) => {
        const asked = askedAt(choice, occasion.event.timeMs);
        return asked !== undefined && reasonToSend(asked, occasion, true) !== undefined;
      }),
  );
  const scene = occasions.length === 0 ? undefined : await sceneOf(context, runId);
  if (scene === undefined) return [];
  const choosers = await choosersOf(context, scene, choices);
  const owed: Delivery[] = [];
  for (const occasion of occasions) {
    const asked = [...ofPlan(notifications), ...ofChoosers(choosers, occasion)];
    for (const wanted of await wantedFor(context, scene, occasion, asked)) {
      owed.push(...(await deliveriesFor(context, scene, occasion, wanted, place)));
    }
  }
  return owed;
}

function plannedNotifications(
  { stores: { plans } }: NotificationContext,
  runId: RunId,
): Promise<readonly PlannedNotification[]> {
  const load = async (id: string): Promise<readonly PlannedNotification[]> =>
    (await plans.loadPlanInPieces(id as RunId, () => loopShare.enter()))?.notifications ?? [];
  const memory = memories.get(plans) ?? new RecentlyRead(REMEMBERED_RUNS, load);
  memories.set(plans, memory);
  return memory.read(runId);
}

/** What asks for a notification. */
interface Asked {
  readonly notification: PlannedNotification;
  /** The position in the plan, or the user: what tells it from the others. */
  readonly entry: string;
  readonly user: ToldUser | null;
}

interface Chooser extends ChosenBy {
  readonly name: string;
}

interface Wanted extends Asked {
  readonly on: NotificationReason;
}

function ofPlan(notifications: readonly PlannedNotification[]): readonly Asked[] {
  return notifications.map((notification, entry) => ({ notification, entry: String(entry), user: null }));
}

/** Those whose choices are about the run. */
async function choosersOf(
  context: NotificationContext,
  { head }: Scene,
  choices: readonly ChosenBy[],
): Promise<readonly Chooser[]> {
  const names = await Promise.all(choices.map((one) => chooserOf(context, one, head.origin)));
  return choices.flatMap((one, at) => (names[at] === undefined ? [] : [{ ...one, name: names[at] }]));
}

function ofChoosers(choosers: readonly Chooser[], { event: { timeMs: at } }: Occasion): readonly Asked[] {
  return choosers.flatMap(({ userId, name, choice }) => {
    const notification = askedAt(choice, at);
    return notification === undefined ? [] : [{ notification, entry: `user-${userId}`, user: { userId, name, at } }];
  });
}

async function wantedFor(
  context: NotificationContext,
  scene: Scene,
  occasion: Occasion,
  asked: readonly Asked[],
): Promise<readonly Wanted[]> {
  const about = asked.filter(({ notification }) => isAbout(notification, occasion, scene.plan));
  const mayBeFixed = occasion.about === "run" && occasion.reason === "success";
  const isFixed =
    mayBeFixed &&
    about.some(({ notification: { on } }) => on.includes("fixed")) &&
    (await hadFailedBefore(context, scene));
  return about.flatMap((one) => {
    const on = reasonToSend(one.notification, occasion, isFixed);
    return on === undefined ? [] : [{ ...one, on }];
  });
}

async function deliveriesFor(
  context: NotificationContext,
  scene: Scene,
  occasion: Occasion,
  { notification, entry, user, on }: Wanted,
  place: Place,
): Promise<readonly Delivery[]> {
  const found = await factsOf(context, scene, occasion, on, notification.longerThanMs ?? 0);
  if (found === undefined) return [];
  const { facts, attempt } = found;
  const { event } = occasion;
  const what = occasion.about === "wait" ? waitKey(occasion.wait, scene.plan, attempt) : String(event.number);
  const shown = notificationValuesOf(facts);
  const now = context.clock.now();
  const isWait = occasion.about === "wait";
  const dueAt = isWait ? Math.max(now, event.timeMs + notification.longerThanMs!) : now;
  const wait = isWait ? { wait: occasion.wait, since: event.timeMs, longerThanMs: notification.longerThanMs! } : null;
  const owed: Delivery[] = [];
  for (const message of messagesOf(notification)) {
    const rendered = await withJobFacts(context, scene, (jobs) =>
      renderNotification({ ...notification, message }, shown, jobs),
    );
    const address = user === null ? addressOf(notification, rendered.message) : entry;
    const lane = notificationLane(place.projectId, address);
    const record: NotificationRecord = {
      on,
      channel: notification.channel,
      job: facts.job === "" ? null : facts.job,
      pipelineId: scene.plan.pipelineId,
      ...rendered,
      subject: shown.subject,
      text: shown.text,
      event: notificationEvent(context, event, facts, place),
      wait,
      ...(user !== null && { user }),
    };
    owed.push({
      deliveryId: deliveryIdOf(lane, event.runId, `${entry} ${on} ${what}`),
      lane,
      ...place,
      runId: event.runId,
      number: event.number,
      type: notificationType(context, on),
      body: JSON.stringify(record),
      ...neverTried(now, dueAt),
    });
  }
  return owed;
}

/** One for each address of an e-mail. */
function messagesOf({ message }: PlannedNotification): readonly NotificationMessage[] {
  return message.to === undefined ? [message] : message.to.map((address) => ({ ...message, to: [address] }));
}

/** What deliveries must not wait for each other by. It holds no address, and a secret that is not known yet has a name only. */
function addressOf({ channel }: PlannedNotification, { url, to }: NotificationMessage): string {
  return `${channel}-${hash("sha256", JSON.stringify([url, to]), "hex").slice(0, 16)}`;
}

interface Found {
  readonly facts: NotificationFacts;
  /** Of the job; 1 for the run. */
  readonly attempt: number;
}

/** Undefined when there is nothing to tell: of a job that is tried again, or is represented by its cells. */
async function factsOf(
  context: NotificationContext,
  scene: Scene,
  occasion: Occasion,
  on: NotificationReason,
  longerThanMs: number,
): Promise<Found | undefined> {
  const { head, pipeline, url } = scene;
  const { event } = occasion;
  const { startedAt, createdAt } = head.summary;
  const base: NotificationFacts = {
    on,
    runId: event.runId,
    pipeline,
    status: event.status,
    reason: String(event.data["reason"] ?? ""),
    job: "",
    failed: [],
    failedCount: 0,
    triggeredBy: head.origin.triggeredBy,
    ref: head.origin.trigger.ref,
    commit: head.origin.commitSha,
    durationMs: event.timeMs - (startedAt ?? createdAt),
    waitingFor: "",
    question: "",
    url,
  };
  switch (occasion.about) {
    case "run": {
      if (occasion.reason === "success") return { facts: base, attempt: 1 };
      const { failed, count } = await failuresOf(context, scene);
      return { facts: { ...base, failed, failedCount: count }, attempt: 1 };
    }
    case "job": {
      const job = await jobOf(context, scene, occasion.job.jobId);
      if (job === undefined || job.isPassing) return undefined;
      const durationMs = job.startedAt === null ? 0 : event.timeMs - job.startedAt;
      const reason = job.why === "" ? job.reason : job.why;
      return { facts: { ...base, job: job.name, reason, durationMs }, attempt: job.attempt };
    }
    case "approval": {
      const approval = await approvalOf(context, scene, occasion.approvalId);
      const { status } = await runOf(context, scene);
      const waitingFor = `the approval of ${approval?.gate ?? "a gate"}`;
      return { facts: { ...base, status, reason: "", waitingFor, question: approval?.question ?? "" }, attempt: 1 };
    }
    case "wait": {
      const ofWait = { ...base, reason: "", durationMs: longerThanMs };
      const { wait } = occasion;
      if (wait.for === "approval") {
        const approval = await approvalOf(context, scene, wait.approvalId);
        const waitingFor = `the approval of ${approval?.gate ?? "a gate"}`;
        return { facts: { ...ofWait, waitingFor, question: approval?.question ?? "" }, attempt: 1 };
      }
      const waitingFor = wait.for === "agent" ? "an agent" : `a place in the group ${JSON.stringify(wait.group)}`;
      if (wait.job === null) return { facts: { ...ofWait, waitingFor }, attempt: 1 };
      const job = await jobOf(context, scene, wait.job.jobId);
      // Most jobs have found an agent by now: their waits are over.
      if (job === undefined || job.endedAt !== null || (wait.for === "agent" && job.startedAt !== null))
        return undefined;
      // All cells of a matrix wait together.
      const name = scene.plan.jobs[wait.job.index]!.baseName;
      return { facts: { ...ofWait, waitingFor, job: name, status: job.status }, attempt: job.attempt };
    }
  }
}

function notificationType({ eventNamespace }: NotificationContext, on: NotificationReason): string {
  return `${eventNamespace}.notification.${on}`;
}

/** A notification is an event of its own, beside the event that it tells of. */
function notificationEvent(
  context: NotificationContext,
  event: RunEvent,
  facts: NotificationFacts,
  place: Place,
): CloudEvent {
  const { runId, pipelineId, number, jobId } = event;
  const told = cloudEvent(event, context.eventNamespace);
  return {
    ...told,
    id: `${told.id}:${facts.on}`,
    type: notificationType(context, facts.on),
    data: {
      ...place,
      pipelineId,
      runId,
      ...(jobId !== null && { jobId }),
      number,
      time: told.time,
      pipeline: facts.pipeline,
      ...notificationValuesOf(facts),
    },
  };
}
