/** Decides which event triggers of a definition an event starts, and says why not. Pure. */
import picomatch from "picomatch";
import type { Definition } from "../definition/definition.ts";
import type { PatternsInput } from "../definition/schema/values.ts";
import type { EventFacts, HookKind } from "../hook-events/words.ts";
import type { PipelineId, ProjectId } from "../domain/ids.ts";
import { WorkBudget } from "../domain/work/work-budget.ts";
import { evaluateCondition } from "../expressions/condition.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { triggerValues, type TriggerContext } from "./plan-contexts.ts";

/** An event, as the triggers of one definition see it. */
export interface EventSubject {
  readonly kind: HookKind;
  /** Name of the secret of the hook; null without one. */
  readonly secret: string | null;
  readonly facts: EventFacts;
  readonly trigger: TriggerContext;
  /** Null when they are not known: then every `paths` matches. */
  readonly changedFiles: readonly string[] | null;
  /** For people: why they are not known; empty when they are. */
  readonly whyUnknown: string;
  readonly pipelineId: PipelineId;
  readonly pipelineName: string;
  readonly projectId: ProjectId;
}

export interface EventJudgement {
  /** Name of the trigger, or its number. */
  readonly trigger: string;
  readonly matches: boolean;
  /** For people: why it does not match, or what it matched without knowing. */
  readonly text: string;
  /** True when it matches, has `paths`, and the changed files are not known. */
  readonly asksForFiles: boolean;
  /** True when the run may end others of a concurrency group. */
  readonly mayEndOthers: boolean;
}

type EventTrigger = Definition["triggers"]["event"][number];

/** What the conditions of one definition may cost for one event. */
const CONDITION_WORK = 1_048_576;
/** Actions that count without `actions`: those after which there is something new to build. */
const DEFAULT_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  pull_request: ["opened", "reopened", "updated", "ready"],
  release: ["published"],
  comment: ["created"],
};
const SKIP = /\[(?:skip ci|ci skip|no ci|skip millrace)\]/i;
/** The end of a text for people is cut off. */
const SHOWN_CHARS = 200;

/** The judgements of the triggers that are for the kind of the sender, in their order. */
export function judgeEvents(definition: Definition, subject: EventSubject): readonly EventJudgement[] {
  const work = new WorkBudget(CONDITION_WORK);
  const jobs = definition.stages.flatMap((stage) => stage.jobs);
  const groups = [definition, ...jobs].map(({ concurrency }) => concurrency);
  const mayEndOthers = groups.some((group) => group?.onConflict === "cancelRunning");
  return definition.triggers.event.flatMap((trigger, index) => {
    if (trigger.provider !== subject.kind) return [];
    const refusal = refusalOf(trigger, subject, definition, work);
    const matches = refusal === undefined;
    const isUnknown = trigger.paths !== undefined && subject.changedFiles === null;
    const why = `matched; the changed files are not known, so \`paths\` counts as matched: ${subject.whyUnknown}`;
    const text = refusal ?? (isUnknown ? why : "matched");
    const asksForFiles = matches && isUnknown;
    return { trigger: trigger.name ?? `${index + 1}`, matches, text, asksForFiles, mayEndOthers };
  });
}

/** Why the event does not start the trigger; undefined when it does. */
function refusalOf(
  trigger: EventTrigger,
  subject: EventSubject,
  definition: Definition,
  work: WorkBudget,
): string | undefined {
  const { facts, secret } = subject;
  if (trigger.event !== facts.event) return `event: ${shown(trigger.event)} is not ${shown(facts.event)}`;
  if (trigger.secret !== undefined && trigger.secret !== secret) {
    return `secret: the trigger asks for ${trigger.secret}, and the hook has ${secret ?? "none"}`;
  }
  if (facts.deleted) return `deletion: ${shown(facts.ref)} was removed, which starts nothing`;
  const word = ["push", "tag", "pull_request"].includes(facts.event) ? SKIP.exec(facts.message)?.[0] : undefined;
  if (word !== undefined) return `skipped: the message has ${word}`;
  return (
    actionRefusal(trigger, facts) ??
    filterRefusal("branch", trigger.branches, facts.branch) ??
    filterRefusal("tag", trigger.tags, facts.tag) ??
    filterRefusal("actor", trigger.actors, facts.actor) ??
    anyRefusal("labels", trigger.labels, facts.labels) ??
    (subject.changedFiles === null ? undefined : anyRefusal("paths", trigger.paths, subject.changedFiles)) ??
    whenRefusal(trigger, subject, definition, work)
  );
}

function actionRefusal({ actions, provider }: EventTrigger, { event, action }: EventFacts): string | undefined {
  const wanted = actions ?? (provider === "generic" ? undefined : DEFAULT_ACTIONS[event]);
  if (wanted === undefined || wanted.includes(action)) return undefined;
  return `actions: ${wanted.join(", ")} do not have ${action === "" ? "an empty one" : shown(action)}`;
}

function filterRefusal(noun: string, filter: PatternsInput | undefined, name: string): string | undefined {
  if (filter === undefined) return undefined;
  const { include, exclude } = listsOf(filter);
  if (include.length > 0 && !matchesAny(include, name)) {
    return `${noun} filter: ${shown(include.join(", "))} does not match ${name === "" ? "nothing" : shown(name)}`;
  }
  const excluding = exclude.find((pattern) => matchesAny([pattern], name));
  return excluding === undefined ? undefined : `${noun} filter: ${shown(excluding)} excludes ${shown(name)}`;
}

/** At least one of the names must match the whole filter. */
function anyRefusal(noun: string, filter: PatternsInput | undefined, names: readonly string[]): string | undefined {
  if (filter === undefined) return undefined;
  const { include, exclude } = listsOf(filter);
  const [isIncluded, isExcluded] = [matcherOf(include), matcherOf(exclude)];
  const matches = (name: string) => (include.length === 0 || isIncluded(name)) && !isExcluded(name);
  if (names.some(matches)) return undefined;
  const of = names.length === 0 ? "there are none" : `none of ${shown(names.slice(0, 20).join(", "))} matches`;
  return `${noun} filter: ${of}`;
}

function listsOf(filter: PatternsInput): { readonly include: readonly string[]; readonly exclude: readonly string[] } {
  if (Array.isArray(filter)) return { include: filter as readonly string[], exclude: [] };
  const { include = [], exclude = [] } = filter as Exclude<PatternsInput, readonly string[]>;
  return { include, exclude };
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return matcherOf(patterns)(name);
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const matches = picomatch([...patterns], { dot: true });
  return (name) => name !== "" && matches(name);
}

function whenRefusal(
  { when }: EventTrigger,
  { trigger, pipelineId, pipelineName, projectId }: EventSubject,
  { source }: Definition,
  work: WorkBudget,
): string | undefined {
  if (when === undefined) return undefined;
  const contexts: Readonly<Record<string, Json>> = {
    trigger: triggerValues(trigger),
    pipeline: { id: pipelineId, name: pipelineName },
    project: { id: projectId },
  };
  const written = String(when);
  try {
    const status = { success: true, failure: false, cancelled: false };
    const holds = evaluateCondition(source.parsed.condition(written), toScope(contexts), status, work);
    return holds ? undefined : `when: ${shown(written)} is not true`;
  } catch (error) {
    return `when: ${shown(written)} cannot be evaluated: ${shown(error instanceof Error ? error.message : String(error))}`;
  }
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS - 1)}…`;
}
