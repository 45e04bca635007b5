/** Judges which triggers of a pipeline an event of a delivery starts. Its verdicts are stored before any run is made. */
import { hash } from "node:crypto";
import { newId } from "../../domain/ids.ts";
import type { EventJudgement } from "../../planner/judge-events.ts";
import type { Body } from "../../hook-events/fields.ts";
import { isRunCommand, RUN_COMMAND } from "../../hook-events/run-command.ts";
import type { EventFacts, TriggerVerdict } from "../../hook-events/words.ts";
import type { Hook, ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { type ChangedFiles, changedFiles } from "../git/changed-files.ts";
import { approveByComment } from "../triggering/approve-by-comment.ts";
import { toldOf } from "../triggering/told-event.ts";
import type { HookRunContext } from "./context.ts";
import { type EventDefinition, eventDefinition } from "./event-definition.ts";
import type { Listening } from "./listening-pipelines.ts";
import { findNewerRun } from "./newer-run.ts";

/** Another delivery that tells the same change within this time starts nothing. */
const SAME_CHANGE_MS = 3_600_000;

export interface JudgedEvent {
  /** Which event of the delivery, from 0. */
  readonly index: number;
  readonly facts: EventFacts;
  readonly listening: Listening;
  readonly body: Body;
  /** True when an older delivery of the hook waits for the repository of the pipeline. */
  readonly isBehind: boolean;
}

/** The verdicts of an event at a pipeline; one that waits when the definition cannot be read yet, or the host does not answer. */
export async function judgeEvent(
  context: HookRunContext,
  hook: Hook,
  delivery: ReceivedDelivery,
  judged: JudgedEvent,
): Promise<readonly TriggerVerdict[]> {
  const ofTriggers = await judgeTriggers(context, hook, delivery, judged);
  if (!judged.listening.isOwn || !isRunCommand(judged.facts)) return ofTriggers;
  if (ofTriggers.some(({ outcome }) => outcome === "waiting")) return ofTriggers;
  const ofCommand = await judgeCommand(context, hook, delivery, judged);
  return ofCommand.outcome === "waiting" ? [ofCommand] : [ofCommand, ...ofTriggers];
}

/** What becomes of the comment that asks for the run of a fork. */
async function judgeCommand(
  context: HookRunContext,
  hook: Hook,
  delivery: ReceivedDelivery,
  { index, facts, listening: { pipeline }, body }: JudgedEvent,
): Promise<TriggerVerdict> {
  const { pipelineId, name } = pipeline;
  const isSame = (one: TriggerVerdict) => one.pipelineId === pipelineId && one.trigger === RUN_COMMAND;
  const before = delivery.earlier.find((one) => isSame(one) && one.eventIndex === index);
  if (before !== undefined) return before;
  const { outcome, text, runId } = await approveByComment(context, { pipeline, hook, delivery, facts, body });
  const place = {
    pipelineId,
    pipeline: name,
    trigger: RUN_COMMAND,
    eventIndex: index,
    text,
    revisionId: null,
  } as const;
  if (outcome === "approved") return { ...place, outcome: "matched", runId: runId!, made: true };
  return { ...place, outcome: outcome === "later" ? "waiting" : "refused", runId: null, made: false };
}

async function judgeTriggers(
  context: HookRunContext,
  hook: Hook,
  delivery: ReceivedDelivery,
  judged: JudgedEvent,
): Promise<readonly TriggerVerdict[]> {
  const { index, facts, listening } = judged;
  const { pipelineId, name } = listening.pipeline;
  const forAll = {
    pipelineId,
    pipeline: name,
    trigger: "",
    eventIndex: index,
    runId: null,
    revisionId: null,
    made: false,
  } as const;
  if (judged.isBehind) {
    return [{ ...forAll, outcome: "waiting", text: "an older delivery waits for the repository: it goes first" }];
  }
  const definition = await eventDefinition(context, hook, listening, facts, delivery);
  if (definition.found === "later") return [{ ...forAll, outcome: "waiting", text: definition.text }];
  if (definition.found === "nothing") {
    return [{ ...forAll, outcome: definition.outcome, text: definition.text }];
  }
  const verdicts: TriggerVerdict[] = [];
  for (const judgement of await judgements(context, hook, delivery, judged, definition)) {
    const before = delivery.earlier.find(
      (one) => one.pipelineId === pipelineId && one.trigger === judgement.trigger && one.eventIndex === index,
    );
    verdicts.push(before ?? (await verdictOf(context, delivery, judged, definition, judgement)));
  }
  if (verdicts.length > 0) return verdicts;
  const of = definition.commitSha === undefined ? "the definition" : `the definition of commit ${definition.commitSha}`;
  return [{ ...forAll, outcome: "filtered", text: `${of} has no event trigger for ${hook.kind}` }];
}

type Found = EventDefinition & { readonly found: "definition" };

/** Asks the repository for the changed files only when a trigger that matches otherwise asks for them. */
async function judgements(
  context: HookRunContext,
  { kind, secret }: Hook,
  delivery: ReceivedDelivery,
  { facts, listening, body }: JudgedEvent,
  found: Found,
): Promise<readonly EventJudgement[]> {
  const { pipelineId, name, projectId, defaultBranch } = listening.pipeline;
  const { work, caller } = askingFor(context, projectId);
  const subject = {
    kind,
    secret,
    facts,
    trigger: { kind: "event", ref: facts.ref === "" ? defaultBranch : facts.ref, ...toldOf(delivery, facts, body) },
    changedFiles: null,
    whyUnknown: "",
    pipelineId,
    pipelineName: name,
    projectId,
  } as const;
  const first = await work.judgeEvents(caller, found.known, subject);
  if (!first.some(({ asksForFiles }) => asksForFiles)) return first;
  const changed = await filesOf(context, listening, facts, found);
  const known = "files" in changed ? { changedFiles: changed.files } : { whyUnknown: changed.unknown };
  return work.judgeEvents(caller, found.known, { ...subject, ...known });
}

async function filesOf(
  context: HookRunContext,
  { pipeline, isOwn }: Listening,
  { event, before, branch }: EventFacts,
  { commitSha }: Found,
): Promise<ChangedFiles> {
  if (commitSha === undefined) return { unknown: "the definition is not in a repository" };
  if (!isOwn) return { unknown: "the event is not of the repository of the definition" };
  return changedFiles(context, pipeline, { event, before, branch, sha: commitSha });
}

async function verdictOf(
  context: HookRunContext,
  delivery: ReceivedDelivery,
  { index, facts, listening: { pipeline } }: JudgedEvent,
  { revisionId, commitSha, tip }: Found,
  { trigger, matches, text, mayEndOthers }: EventJudgement,
): Promise<TriggerVerdict> {
  const { pipelineId, name } = pipeline;
  const verdict = { pipelineId, pipeline: name, trigger, eventIndex: index, made: false } as const;
  const without = { ...verdict, runId: null, revisionId: null } as const;
  if (!matches) return { ...without, outcome: "filtered", text };
  // Before the change is claimed: a redelivery may start the run once the newer one has ended.
  const newer = mayEndOthers ? await findNewerRun(context, { pipeline, facts, commitSha, tip }) : undefined;
  if (newer !== undefined) {
    const outdated = `run ${newer.runId} builds the newer commit ${newer.sha}, and would be ended`;
    return { ...without, outcome: "outdated", text: outdated };
  }
  const other = await earlierDelivery(context, delivery, facts, `${pipelineId}/${trigger}`);
  if (other !== undefined) {
    return { ...without, outcome: "duplicate", text: `delivery ${other} has told the same change` };
  }
  const ofCommit = commitSha !== undefined && { commitSha };
  return { ...verdict, outcome: "matched", text, runId: (context.newId ?? newId)("run"), revisionId, ...ofCommit };
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
