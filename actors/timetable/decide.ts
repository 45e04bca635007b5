/** The timetable's decisions: when to read the definition of the pipeline, and which schedules to define or to withdraw. Pure. */
import type { Decision, OwedEffect } from "../../src/domain/effects.ts";
import { commandIdOf, type PipelineId, scheduleIdOf } from "../../src/domain/ids.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import type { TimetableMessage } from "./messages.ts";
import { LOOK_AGAIN_MS, type TimetableState } from "./state.ts";
import { TIMETABLE_TRANSITIONS, type TimetableInput } from "./transitions.ts";

type TimetableDecision = Decision<TimetableState, OwedEffect>;
type TriggersRead = TimetableMessage & { readonly kind: "triggersRead" };

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideTimetable(timetable: TimetableState, message: TimetableMessage, now: number): TimetableDecision {
  const input = inputOf(timetable, message, now);
  const entry = lookUp("timetable", TIMETABLE_TRANSITIONS, input, timetable.state);
  if (entry === "late" || entry === "same") return { entry, next: timetable, effects: answer(message) };
  const { next, effects } = message.kind === "triggersRead" ? learn(timetable, message) : read(timetable, message, now);
  return { entry: "moved", next: { ...next, state: entry }, effects: [...answer(message), ...effects] };
}

function inputOf(
  { state, generation, lookAt }: TimetableState,
  message: TimetableMessage,
  now: number,
): TimetableInput {
  switch (message.kind) {
    case "triggersChanged":
      return "changed";
    case "timer":
      return lookAt !== null && lookAt <= now ? "lookAgain" : "staleTimer";
    case "triggersRead":
      if (state !== "reading" || message.generation !== generation) return "staleRead";
      return message.schedules.length > 0 ? "read" : "readNone";
  }
}

interface Changed {
  readonly next: TimetableState;
  readonly effects: readonly OwedEffect[];
}

function read(
  timetable: TimetableState,
  message: Exclude<TimetableMessage, { readonly kind: "triggersRead" }>,
  now: number,
): Changed {
  const isChange = message.kind === "triggersChanged";
  const pipelineId = isChange ? message.pipelineId : timetable.pipelineId!;
  const generation = Math.max(timetable.generation + 1, now);
  const { timetableId } = timetable;
  return {
    next: { ...timetable, pipelineId, generation, lookAt: isChange ? now + LOOK_AGAIN_MS : null },
    effects: [{ type: "readTriggers", timetableId, pipelineId, generation }],
  };
}

function learn(timetable: TimetableState, { schedules, projectId: found, generation }: TriggersRead): Changed {
  const pipelineId = timetable.pipelineId!;
  const projectId = found ?? timetable.projectId;
  const before = new Map(timetable.schedules.map((spec) => [spec.name, JSON.stringify(spec)]));
  const effects = schedules.flatMap((spec): readonly OwedEffect[] => {
    const isKnown = before.get(spec.name) === JSON.stringify(spec);
    before.delete(spec.name);
    if (isKnown || projectId === null) return [];
    return [tell(pipelineId, spec.name, { kind: "define", pipelineId, projectId, generation, spec })];
  });
  const gone = [...before.keys()].map((name) => tell(pipelineId, name, { kind: "withdraw", generation }));
  return { next: { ...timetable, projectId, schedules }, effects: [...effects, ...gone] };
}

function tell(
  pipelineId: PipelineId,
  name: string,
  body: (OwedEffect & { readonly type: "command" })["body"] & { readonly kind: "define" | "withdraw" },
): OwedEffect {
  const to = scheduleIdOf(pipelineId, name);
  return { type: "command", to, commandId: commandIdOf(body.kind, to, String(body.generation)), body };
}

function answer(message: TimetableMessage): readonly OwedEffect[] {
  if (message.kind === "timer") return [];
  return [{ type: "answer", commandId: message.commandId, verdict: { outcome: "accepted", status: "running" } }];
}
