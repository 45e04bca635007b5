/** What must hold of the deliveries of hooks at the end: each push has started one run of each trigger that is for it. */
import { runsOf } from "../../../src/app/hooks/receive.ts";
import { asId, type RunId } from "../../../src/domain/ids.ts";
import type { TriggerVerdict } from "../../../src/hook-events/words.ts";
import type { ReceivedDelivery } from "../../../src/stores/hooks/hook-store.ts";
import type { Violation } from "../../chaos/check/evidence.ts";
import { type Push, STARTED_BY, SUPERSEDING, type Told } from "../outside/pushes.ts";
import type { Document, StoreServer } from "../store/store-server.ts";
import { areStatusesDone } from "./statuses.ts";

/** True when nothing waits to be started from a delivery, or to be told to the host. */
export function isOutsideDone(store: StoreServer): boolean {
  return areDeliveriesDone(store) && areStatusesDone(store);
}

/** The runs of all deliveries have ended, too. */
function areDeliveriesDone({ hooks, documents }: StoreServer): boolean {
  if (hooks.select(({ state }) => state === "owed").length > 0) return false;
  return [...documents.values()].every(({ head }) => head.origin.trigger.event === undefined || head.settled);
}

export function checkDeliveries(store: StoreServer, pushes: readonly Push[]): readonly Violation[] {
  const told = pushes.flatMap(({ deliveries }) => deliveries);
  return [
    ...told.flatMap((one) => checkTold(store, one)),
    ...pushes.flatMap((push) => checkPush(store, push)),
    ...checkEventRuns(store),
  ];
}

/** A delivery that was answered is stored once and is done, and its runs are those that the answers have named. */
function checkTold({ hooks, documents }: StoreServer, { senderId, deliveryId, named }: Told): readonly Violation[] {
  const [stored, ...others] = hooks.select((one) => one.senderId === senderId);
  if (others.length > 0) return [{ kind: "doubled", text: `${senderId} is stored ${others.length + 1} times` }];
  if (stored === undefined) {
    return deliveryId === undefined ? [] : [{ kind: "lost", text: `${senderId} was answered and is not in the store` }];
  }
  if (stored.state !== "done") {
    return [{ kind: "stuck", text: `${senderId} is ${stored.state}: ${stored.error}` }];
  }
  const runs = runsOf(stored);
  return [
    ...(deliveryId === undefined || deliveryId === stored.deliveryId
      ? []
      : [{ kind: "doubled", text: `${senderId} was answered as ${deliveryId} and is ${stored.deliveryId}` } as const]),
    ...[...named].flatMap((runId): readonly Violation[] =>
      runs.includes(runId) ? [] : [{ kind: "doubled", text: `${senderId} was answered with ${runId}, not its run` }],
    ),
    ...runs.flatMap((runId): readonly Violation[] =>
      documents.has(runId) ? [] : [{ kind: "lost", text: `the run ${runId} of ${senderId} is missing` }],
    ),
  ];
}

/** Under however many ids it is told, a push starts one run of each trigger; a newer push may have overtaken it where runs end others. */
function checkPush({ hooks }: StoreServer, { branch, sha, deliveries }: Push): readonly Violation[] {
  const ids = new Set(deliveries.map(({ senderId }) => senderId));
  const verdicts = hooks.select(({ senderId }) => ids.has(senderId)).flatMap((one) => one.verdicts ?? []);
  if (verdicts.length === 0) return [];
  return Object.entries(STARTED_BY).flatMap(([key, branches]): readonly Violation[] => {
    const ofTrigger = verdicts.filter((one) => keyOf(one) === key);
    const count = (outcome: TriggerVerdict["outcome"]) => ofTrigger.filter((one) => one.outcome === outcome).length;
    const mayBeOutdated = key.startsWith(SUPERSEDING) && count("outdated") > 0;
    const started = count("matched");
    const wanted = branches.includes(branch) ? 1 : 0;
    if (started === wanted || (started === 0 && mayBeOutdated)) return [];
    const seen = ofTrigger.map(({ outcome, text }) => `${outcome} (${text})`).join(", ");
    const text = `the push of ${sha.slice(0, 7)} to ${branch} has started ${started} runs of ${key}: ${seen}`;
    return [{ kind: started > wanted ? "doubled" : "lost", text }];
  });
}

/** Each run that an event has started is the one that its delivery names, and the only one of its trigger. */
function checkEventRuns({ hooks, documents }: StoreServer): readonly Violation[] {
  const seen = new Map<string, Document>();
  return [...documents.values()].flatMap((document): readonly Violation[] => {
    const { rootId, origin, summary } = document.head;
    const { event } = origin.trigger;
    if (event === undefined) return [];
    const key = `${event.deliveryId} ${event.index} ${summary.pipelineId} ${event.trigger}`;
    const other = seen.get(key);
    seen.set(key, document);
    if (other !== undefined) {
      return [{ kind: "doubled", text: `${rootId} and ${other.head.rootId} are of the same delivery and trigger` }];
    }
    const delivery = hooks.deliveries.get(event.deliveryId)?.delivery;
    if (isNamedBy(delivery, asId<RunId>(rootId))) return [];
    return [{ kind: "doubled", text: `run ${rootId} is not the one that its delivery names` }];
  });
}

function isNamedBy(delivery: ReceivedDelivery | undefined, runId: RunId): boolean {
  return delivery !== undefined && runsOf(delivery).includes(runId);
}

function keyOf({ pipelineId, trigger }: TriggerVerdict): string {
  return `${pipelineId} ${trigger}`;
}
