/**
 * Makes of a stored delivery what its pipelines ask for. First the verdicts of all triggers are stored, with the ids of the runs
 * to come; then the runs are made. After a crash in between, the same runs are made by the same ids, so that a delivery starts
 * exactly one run of a trigger.
 */
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import type { EventFacts, TriggerVerdict } from "../../hook-events/words.ts";
import type { PipelineId } from "../../domain/ids.ts";
import { FULL_COMMIT, PLAIN_TEXT } from "../../domain/names.ts";
import { type Body } from "../../hook-events/fields.ts";
import { readEvents } from "../../hook-events/read-events.ts";
import { repositoryAddresses } from "../../hook-events/repository-addresses.ts";
import type { Hook, ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import { isInGit } from "../git/repository.ts";
import { makeEventRun } from "../triggering/event-run.ts";
import { bodyOfDelivery, toldOf } from "../triggering/told-event.ts";
import type { HookRunContext } from "./context.ts";
import { judgeEvent } from "./judge-event.ts";
import { listeningPipelines } from "./listening-pipelines.ts";
import { eventHeaderOf } from "./senders.ts";

const DAY_MS = 86_400_000;
/** How long deliveries are kept that have started runs, and the others; and large bodies that have started nothing. */
const KEPT_MS = { started: 30 * DAY_MS, other: 7 * DAY_MS, largeOther: DAY_MS } as const;
const LARGE_BYTES = 256 * 1024;
/** Owed deliveries that are looked at for older ones that wait. */
const LOOKED_AT = 100;
/** Verdicts that a delivery keeps. */
const MAX_VERDICTS = 500;
const NAME_CHARS = 100;

/**
 * Processes an owed delivery; what was done is stored. Answers what it waits for, or undefined when it has ended or when another
 * process has changed it meanwhile. Rejects when it must be tried again for another reason.
 */
export async function processDelivery(
  context: HookRunContext,
  hook: Hook,
  owed: ReceivedDelivery,
): Promise<Waiting | undefined> {
  const body = await bodyOfDelivery(context, owed);
  if (body === undefined) {
    await save(context, ended(context, { ...owed, state: "failed", error: "the body is no JSON object" }));
    return undefined;
  }
  const isDecided = owed.verdicts?.every(({ outcome }) => outcome !== "waiting") === true;
  const decided = isDecided ? { delivery: owed, waiting: undefined } : await decide(context, hook, owed, body);
  if (decided === undefined) return undefined;
  let { delivery } = decided;
  for (const [at, verdict] of (delivery.verdicts ?? []).entries()) {
    if (verdict.outcome !== "matched" || verdict.made) continue;
    const after = await makeRun(context, hook, delivery, verdict, body);
    const verdicts = delivery.verdicts!.map((one, index) => (index === at ? after : one));
    const changed = { ...delivery, verdicts, version: delivery.version + 1 };
    if (!(await context.stores.hooks.saveDelivery(changed))) return undefined;
    delivery = changed;
  }
  if (decided.waiting !== undefined) return decided.waiting;
  await save(context, ended(context, { ...delivery, state: "done", error: errorOf(hook, delivery) }));
  return undefined;
}

/** Why an owed delivery is processed again later. */
export interface Waiting {
  readonly text: string;
  /** When an older delivery is tried for which it waits; null for one that was tried itself. */
  readonly dueAt: number | null;
}

/** The verdicts of a delivery that is not tried any more. */
export function givenUp(verdicts: ReceivedDelivery["verdicts"]): ReceivedDelivery["verdicts"] {
  if (verdicts === null) return null;
  return verdicts.map((one) => {
    return one.outcome === "waiting" ? { ...one, outcome: "refused", text: `given up: ${one.text}` } : one;
  });
}

function errorOf({ kind }: Hook, { events, event }: ReceivedDelivery): string {
  if (events.length > 0) return "";
  if (event !== "") return `the event ${JSON.stringify(event)} starts nothing`;
  return `the header ${eventHeaderOf(kind)} with the word for the event is missing: is the sender of the kind ${kind}?`;
}

/** Stores the verdicts: all of a new delivery, else those that wait. Undefined when another process has stored other ones. */
async function decide(
  context: HookRunContext,
  hook: Hook,
  owed: ReceivedDelivery,
  body: Body,
): Promise<{ readonly delivery: ReceivedDelivery; readonly waiting: Waiting | undefined } | undefined> {
  const { verdicts: former } = owed;
  const events = former === null ? eventsOf(hook, owed, body) : owed.events;
  const addresses = repositoryAddresses(hook.kind, body);
  const pipelines = events.length === 0 ? [] : await listeningPipelines(context, hook, addresses);
  const isAnyInGit = pipelines.some(({ pipeline }) => isInGit(pipeline));
  const waitedFor = isAnyInGit ? await waitedForBefore(context, owed) : new Map<PipelineId, number>();
  const verdicts = (former ?? []).filter(({ outcome }) => outcome !== "waiting");
  for (const [index, facts] of events.entries()) {
    for (const listening of pipelines) {
      const { pipelineId } = listening.pipeline;
      if (former !== null && !former.some((one) => isWaiting(one, pipelineId, index))) continue;
      const isBehind = waitedFor.has(pipelineId);
      verdicts.push(...(await judgeEvent(context, hook, owed, { index, facts, listening, body, isBehind })));
    }
  }
  // Of many, those that start something are kept.
  const kept = verdicts.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MAX_VERDICTS);
  const decided = { ...owed, events, verdicts: verdicts.length > MAX_VERDICTS ? kept : verdicts };
  const changed: ReceivedDelivery = { ...decided, version: owed.version + 1 };
  if (!(await context.stores.hooks.saveDelivery(changed))) return undefined;
  return { delivery: changed, waiting: waitingOf(verdicts, waitedFor) };
}

/** What a delivery with these verdicts waits for; undefined when it waits for nothing. */
function waitingOf(
  verdicts: readonly TriggerVerdict[],
  waitedFor: ReadonlyMap<PipelineId, number>,
): Waiting | undefined {
  const waiting = verdicts.filter(({ outcome }) => outcome === "waiting");
  const [first] = waiting;
  if (first === undefined) return undefined;
  const isTried = waiting.some(({ pipelineId }) => !waitedFor.has(pipelineId));
  const dueAt = isTried ? null : Math.min(...waiting.map(({ pipelineId }) => waitedFor.get(pipelineId)!));
  return { text: `${first.pipeline}: ${first.text}`, dueAt };
}

function weightOf({ runId, outcome }: TriggerVerdict): number {
  return runId === null && outcome !== "waiting" ? 0 : 1;
}

function isWaiting({ outcome, pipelineId: id, eventIndex }: TriggerVerdict, pipelineId: PipelineId, index: number) {
  return outcome === "waiting" && id === pipelineId && eventIndex === index;
}

const OWN_REF = /^refs\/(?:heads|tags)\//;

/** What an unproved sender says about where a commit comes from counts nothing: only branches and tags are known not to be a fork's. */
function eventsOf(hook: Hook, { event }: ReceivedDelivery, body: Body): readonly EventFacts[] {
  const events = readEvents(hook.kind, event, body);
  if (hook.proof !== "none") return events;
  return events.map((facts) => {
    const { ref, fullRef } = facts;
    const isElsewhere = fullRef === "" ? ref.startsWith("refs/") || FULL_COMMIT.test(ref) : !OWN_REF.test(fullRef);
    return { ...facts, fork: facts.fork || isElsewhere || ["pull_request", "comment"].includes(facts.event) };
  });
}

/**
 * The pipelines for whose repositories older deliveries of the hook wait, with the time of their next try: these go first, so that
 * the events of a pipeline keep their order, while events of other pipelines do not wait.
 */
async function waitedForBefore(
  { stores }: HookRunContext,
  { hookId, deliveryId }: ReceivedDelivery,
): Promise<ReadonlyMap<PipelineId, number>> {
  const owedFirst = (most: number) => stores.hooks.due(hookId, Number.MAX_SAFE_INTEGER, most);
  const [oldest] = await owedFirst(1);
  const waitedFor = new Map<PipelineId, number>();
  if (oldest === undefined || oldest.deliveryId === deliveryId) return waitedFor;
  for (const other of await owedFirst(LOOKED_AT)) {
    if (other.deliveryId === deliveryId) break;
    for (const { outcome, pipelineId } of other.verdicts ?? []) {
      if (outcome === "waiting" && !waitedFor.has(pipelineId)) waitedFor.set(pipelineId, other.dueAt);
    }
  }
  return waitedFor;
}

/** The verdict once the run is made, or is refused for good. Rejects with what is worth another try. */
async function makeRun(
  context: HookRunContext,
  hook: Hook,
  delivery: ReceivedDelivery,
  verdict: TriggerVerdict,
  body: Body,
): Promise<TriggerVerdict> {
  const { pipelineId, trigger, eventIndex: index } = verdict;
  const facts = delivery.events[index]!;
  try {
    await makeEventRun(context, {
      runId: verdict.runId!,
      revisionId: verdict.revisionId!,
      commitSha: verdict.commitSha,
      pipelineId,
      event: { deliveryId: delivery.deliveryId, index, trigger, sha: facts.sha, untrusted: facts.fork },
      ref: facts.ref,
      told: toldOf(delivery, facts, body),
      triggeredBy: nameOf(`${hook.kind}:${facts.actor}`, hook.kind),
      actor: nameOf(`hook ${hook.name}`, "hook"),
    });
    return { ...verdict, made: true };
  } catch (error) {
    if (!(error instanceof MillraceError) || ERROR_TABLE[error.reason].retry === "later") throw error;
    return { ...verdict, outcome: "refused", text: error.message.slice(0, 2_000) };
  }
}

/** A name for people; `instead` of one that no name can be. */
function nameOf(text: string, instead: string): string {
  const name = text.slice(0, NAME_CHARS);
  return PLAIN_TEXT.test(name) ? name : instead;
}

function ended({ clock }: HookRunContext, delivery: ReceivedDelivery): ReceivedDelivery {
  const { verdicts, bytes, version } = delivery;
  const hasStarted = (verdicts ?? []).some(({ made }) => made);
  const keptMs = hasStarted ? KEPT_MS.started : bytes > LARGE_BYTES ? KEPT_MS.largeOther : KEPT_MS.other;
  return { ...delivery, dueAt: clock.now() + keptMs, failures: 0, version: version + 1 };
}

async function save({ stores }: HookRunContext, delivery: ReceivedDelivery): Promise<void> {
  await stores.hooks.saveDelivery(delivery);
}
