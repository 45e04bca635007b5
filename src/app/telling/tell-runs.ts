/**
 * Turns stored events of runs into owed deliveries. The store knows how far the events of each run are told. They are told
 * from the stored events alone, so no receiver hears of a state that was not saved, and a crash at any moment loses no event.
 */
import { eventType, type RunEvent } from "../../domain/events.ts";
import type { ProjectId } from "../../domain/ids.ts";
import { deliveryIdOf, matchesType, neverTried } from "../webhooks/webhook-rules.ts";
import type { Delivery, UntoldRun } from "../../stores/ports/deliveries.ts";
import { contentLength, isLastPage } from "../../stores/ports/events.ts";
import { statusesOf } from "../commit-statuses/tell-statuses.ts";
import { cloudEvent } from "../events/cloud-event.ts";
import { choicesOf, type ChosenBy } from "../notifications/chosen.ts";
import { notificationsOf } from "../notifications/tell-notifications.ts";
import { projectFactsOf } from "../project-facts.ts";
import type { TellingContext } from "../webhooks/context.ts";
import { allListeners, firstSince, type Listeners } from "../webhooks/listeners.ts";

const RUNS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 200;
/** Content of pushed events that is in memory at once, about. */
const CONTENT_AT_ONCE = 4 * 1024 * 1024;
/** Deliveries of one transaction, about. */
const DELIVERIES_AT_ONCE = 500;
/** Nodes may differ in their clocks: an event that is older than its webhook by less than this is told too. */
export const SINCE_SLACK_MS = 1_000;

/**
 * Tells some of what is not told. True when there may be more. `known`: the listeners of a moment ago, who need nothing of
 * runs that had ended before all of them.
 */
export async function tellRuns(
  context: TellingContext,
  projectIds: readonly ProjectId[],
  known: Listeners,
): Promise<boolean> {
  const { deliveries } = context.stores;
  const runs = await deliveries.untold(projectIds, RUNS_AT_ONCE);
  if (runs.length === 0) return false;
  const first = firstSince(known) - SINCE_SLACK_MS;
  let length = 0;
  const found: { readonly run: UntoldRun; readonly events: readonly RunEvent[]; readonly through: number }[] = [];
  for (const run of runs) {
    const isOver = run.settled && run.endedAt !== null && run.endedAt < first;
    const events = isOver ? [] : await context.stores.events.read(run.runId, run.told, EVENTS_AT_ONCE);
    found.push({ run, ...withoutGap(run, events) });
    length += contentLength(events);
    if (length >= CONTENT_AT_ONCE) break;
  }
  // Read after the events: a webhook that was there before an event is among them.
  const listeners = await allListeners(context);
  const choosers = new Set(found.flatMap(({ run }) => listeners.notified.get(run.projectId)?.users ?? []));
  const choices = await choicesOf(context, [...choosers]);
  let owed: Delivery[] = [];
  let told: { runId: UntoldRun["runId"]; told: number }[] = [];
  const store = async (): Promise<void> => {
    if (told.length > 0) await deliveries.tell(owed, told);
    [owed, told] = [[], []];
  };
  for (const { run, events, through } of found) {
    if (through === run.told) continue;
    if (events.length > 0) owed.push(...(await deliveriesOf(context, run, events, { ...listeners, choices })));
    told.push({ runId: run.runId, told: through });
    if (owed.length >= DELIVERIES_AT_ONCE) await store();
  }
  await store();
  return found.some(({ run, through }) => through > run.told);
}

/**
 * The events that follow without a gap, and how far they go. The events of a save may be stored after the save: then there is a
 * gap, or nothing, until they are. Of a settled run all events were stored, and those that are missing are removed.
 */
function withoutGap(
  { told, eventNumber, settled }: UntoldRun,
  events: readonly RunEvent[],
): { readonly events: readonly RunEvent[]; readonly through: number } {
  if (settled) return { events, through: isLastPage(events, EVENTS_AT_ONCE) ? eventNumber : events.at(-1)!.number };
  const following = events.filter(({ number }, at) => number === told + 1 + at);
  return { events: following, through: told + following.length };
}

async function deliveriesOf(
  context: TellingContext,
  run: UntoldRun,
  events: readonly RunEvent[],
  { webhooks, notified, choices }: Listeners & { readonly choices: ReadonlyMap<ProjectId, readonly ChosenBy[]> },
): Promise<readonly Delivery[]> {
  const { projectId } = run;
  const { tenantId } = await projectFactsOf(context, projectId);
  if (tenantId === null) return [];
  const place = { tenantId, projectId };
  const notifications = notified.has(projectId)
    ? [
        ...(await notificationsOf(context, run, events, place, choices.get(projectId))),
        ...(await statusesOf(context, events, place)),
      ]
    : [];
  const owners = [`tenant/${tenantId}`, `project/${projectId}`];
  const here = webhooks.filter(({ owner, webhook }) => owners.includes(owner) && webhook.disabled === null);
  const now = context.clock.now();
  const ofWebhooks = events.flatMap((event) => {
    const type = eventType(context.eventNamespace, event);
    const wanted = here.filter(
      ({ webhook: { types, since } }) =>
        event.timeMs >= since - SINCE_SLACK_MS && types.some((pattern) => matchesType(pattern, type)),
    );
    if (wanted.length === 0) return [];
    const { pipelineId, jobId, stepRunId } = event;
    const placeOfEvent = {
      ...place,
      pipelineId,
      ...(jobId !== null && { jobId }),
      ...(stepRunId !== null && { stepRunId }),
    };
    const body = JSON.stringify(cloudEvent(event, context.eventNamespace, placeOfEvent));
    return wanted.map(({ webhook: { webhookId } }): Delivery => {
      const { runId, number } = event;
      return {
        deliveryId: deliveryIdOf(webhookId, runId, String(number)),
        lane: webhookId,
        tenantId,
        projectId,
        runId,
        number,
        type,
        body,
        ...neverTried(now),
      };
    });
  });
  return [...ofWebhooks, ...notifications];
}
