/**
 * Makes of a stored delivery what its pipelines ask for. First the verdicts of all triggers are stored, with the ids of the runs
 * to come; then the runs are made. After a crash in between, the same runs are made by the same ids, so that a delivery starts
 * exactly one run of a trigger.
 */
import { hash } from "node:crypto";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import type { EventFacts, TriggerVerdict } from "../../hook-events/words.ts";
import { newId, type RevisionId } from "../../domain/ids.ts";
import { PLAIN_TEXT } from "../../domain/names.ts";
import { type Body } from "../../hook-events/fields.ts";
import { readEvents } from "../../hook-events/read-events.ts";
import type { Hook, ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { makeEventRun } from "../triggering/event-run.ts";
import { bodyOfDelivery, toldOf } from "../triggering/told-event.ts";
import type { HookRunContext } from "./context.ts";
import { listeningPipelines } from "./listening-pipelines.ts";

const DAY_MS = 86_400_000;
/** How long deliveries are kept that have started runs, and the others; and large bodies that have started nothing. */
const KEPT_MS = { started: 30 * DAY_MS, other: 7 * DAY_MS, largeOther: DAY_MS } as const;
const LARGE_BYTES = 256 * 1024;
/** Another delivery that tells the same change within this time starts nothing. */
const SAME_CHANGE_MS = 3_600_000;
/** Verdicts that a delivery keeps. */
const MAX_VERDICTS = 500;
const NAME_CHARS = 100;

/**
 * Processes an owed delivery. Rejects when it must be tried again; what was done until then is stored. Does nothing when
 * another process has changed the delivery meanwhile.
 */
export async function processDelivery(context: HookRunContext, hook: Hook, owed: ReceivedDelivery): Promise<void> {
  const body = await bodyOfDelivery(context, owed);
  if (body === undefined) {
    await save(context, ended(context, { ...owed, state: "failed", error: "the body is no JSON object" }));
    return;
  }
  const decided = owed.verdicts === null ? await decide(context, hook, owed, body) : owed;
  if (decided === undefined) return;
  let delivery = decided;
  for (const [at, verdict] of (decided.verdicts ?? []).entries()) {
    if (verdict.outcome !== "matched" || verdict.made) continue;
    const after = await makeRun(context, hook, delivery, verdict, body);
    const verdicts = delivery.verdicts!.map((one, index) => (index === at ? after : one));
    const changed = { ...delivery, verdicts, version: delivery.version + 1 };
    if (!(await context.stores.hooks.saveDelivery(changed))) return;
    delivery = changed;
  }
  await save(context, ended(context, { ...delivery, state: "done", error: errorOf(delivery) }));
}

function errorOf({ events, event }: ReceivedDelivery): string {
  return events.length === 0 ? `the event ${JSON.stringify(event)} starts nothing` : "";
}

/** Stores the verdicts. Undefined when another process has stored other ones. */
async function decide(
  context: HookRunContext,
  hook: Hook,
  owed: ReceivedDelivery,
  body: Body,
): Promise<ReceivedDelivery | undefined> {
  const events = readEvents(hook.kind, owed.event, body);
  const verdicts: TriggerVerdict[] = [];
  const pipelines = events.length === 0 ? [] : await listeningPipelines(context, hook);
  for (const [index, facts] of events.entries()) {
    for (const pipeline of pipelines) {
      verdicts.push(...(await judge(context, hook, owed, { index, facts, pipeline, body })));
    }
  }
  // Of many, those that start something are kept.
  const kept = verdicts.toSorted((a, b) => Number(b.runId !== null) - Number(a.runId !== null)).slice(0, MAX_VERDICTS);
  const decided = { ...owed, events, verdicts: verdicts.length > MAX_VERDICTS ? kept : verdicts };
  const changed: ReceivedDelivery = { ...decided, version: owed.version + 1 };
  return (await context.stores.hooks.saveDelivery(changed)) ? changed : undefined;
}

interface Judged {
  readonly index: number;
  readonly facts: EventFacts;
  readonly pipeline: Pipeline & { readonly headRevisionId: RevisionId };
  readonly body: Body;
}

async function judge(
  context: HookRunContext,
  hook: Hook,
  delivery: ReceivedDelivery,
  { index, facts, pipeline, body }: Judged,
): Promise<readonly TriggerVerdict[]> {
  const { pipelineId, name, projectId, headRevisionId: revisionId } = pipeline;
  const asking = askingFor(context, projectId);
  const known = await definitionOfRevision(context.stores.pipelines, asking, revisionId);
  if (known === undefined) return [];
  const ref = facts.ref === "" ? pipeline.defaultBranch : facts.ref;
  const judgements = await asking.work.judgeEvents(asking.caller, known, {
    kind: hook.kind,
    secret: hook.secret,
    facts,
    trigger: { kind: "event", ref, ...toldOf(delivery, facts, body) },
    // A mirror of the repository would tell them; the lists in bodies are cut off by their senders.
    changedFiles: null,
    pipelineId,
    pipelineName: name,
    projectId,
  });
  const verdicts: TriggerVerdict[] = [];
  for (const { trigger, matches, text } of judgements) {
    const before = delivery.earlier.find(
      (one) => one.pipelineId === pipelineId && one.trigger === trigger && one.eventIndex === index,
    );
    if (before !== undefined) {
      verdicts.push(before);
      continue;
    }
    const verdict = { pipelineId, pipeline: name, trigger, eventIndex: index, made: false } as const;
    const other = matches ? await earlierDelivery(context, delivery, facts, `${pipelineId}/${trigger}`) : undefined;
    if (!matches) verdicts.push({ ...verdict, outcome: "filtered", text, runId: null, revisionId: null });
    else if (other !== undefined) {
      const same = `delivery ${other} has told the same change`;
      verdicts.push({ ...verdict, outcome: "duplicate", text: same, runId: null, revisionId: null });
    } else verdicts.push({ ...verdict, outcome: "matched", text, runId: newId("run"), revisionId });
  }
  return verdicts;
}

/** Another delivery that has told the trigger of the same change a short time ago, under an id of its own. */
async function earlierDelivery(
  { stores, clock }: HookRunContext,
  { deliveryId, projectId }: ReceivedDelivery,
  { event, action, repository, fullRef, before, sha }: EventFacts,
  trigger: string,
): Promise<string | undefined> {
  // Only a push has both sides of a change. Other events may come twice and be two.
  if (!["push", "tag"].includes(event) || fullRef === "" || sha === "") return undefined;
  const change = JSON.stringify(["change", projectId, trigger, event, action, repository, fullRef, before, sha]);
  const key = hash("sha256", change, "hex");
  const claim = { key, bodyHash: "change", createdId: deliveryId, at: clock.now() };
  const claimed = await stores.idempotency.claim(claim);
  if (claimed.createdId === deliveryId) return undefined;
  if (clock.now() - claimed.at < SAME_CHANGE_MS) return claimed.createdId;
  await stores.idempotency.remove(key);
  const renewed = await stores.idempotency.claim(claim);
  return renewed.createdId === deliveryId ? undefined : renewed.createdId;
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
