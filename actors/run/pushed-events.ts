/**
 * Events that agents push about steps: which of them the log of the run takes. The store numbers the events of a step run
 * without a gap, so one number says what the log has, and a repeat takes nothing twice. Pure.
 */
import { MAX_PUSHED_EVENTS } from "../../src/domain/events.ts";
import type { Peers } from "../../src/domain/peers.ts";
import { isGrantOf, isHeld, type StepState } from "../step/state.ts";
import type { EventsPushed } from "./messages.ts";
import type { RunState } from "./state.ts";
import type { RunInput } from "./transitions.ts";

export interface TakenEvents {
  readonly input: Extract<RunInput, "eventsPushed" | "eventsKnown" | "eventsRefused">;
  /** Events of the step run up to this sequence are in the log after the decision. */
  readonly through: number;
  /** How many of them are new. */
  readonly taken: number;
}

/** What the log of the run takes of the events that are stored for a step. */
export function takeEvents(run: RunState, message: EventsPushed, peers: Peers): TakenEvents {
  const step = peers.state(message.stepRunId) as StepState | undefined;
  const known = step?.eventsThrough ?? 0;
  if (message.through <= known) return { input: "eventsKnown", through: known, taken: 0 };
  const isRunning = step !== undefined && isHeld(step) && isGrantOf(step, message.agentId, message.token);
  const room = isRunning ? MAX_PUSHED_EVENTS - (run.pushedEvents ?? 0) : 0;
  const taken = Math.min(message.through - known, room);
  if (taken === 0) return { input: "eventsRefused", through: known, taken };
  return { input: "eventsPushed", through: known + taken, taken };
}
