/** A run as it was after each of its events. Pure. */
import type { RunEvent } from "./run-event.ts";
import { applyEvent, type RunView, viewBefore } from "./run-view.ts";

const KEEP_EVERY = 100;

/** Moves through a run in both directions; a step back costs at most {@link KEEP_EVERY} events. */
export class Replay {
  readonly events: readonly RunEvent[];
  readonly #kept: RunView[];

  /** `events`: all of them, in order, from the first one. */
  constructor(end: RunView, events: readonly RunEvent[]) {
    this.events = events;
    this.#kept = [viewBefore(end)];
  }

  /** The run after so many events. An event that cannot be placed leaves the run as it was. */
  at(count: number): RunView {
    const wanted = Math.min(Math.max(0, count), this.events.length);
    const kept = Math.min(Math.floor(wanted / KEEP_EVERY), this.#kept.length - 1);
    let view = this.#kept[kept]!;
    for (let number = kept * KEEP_EVERY; number < wanted; number++) {
      const after = applyEvent(view, this.events[number]!);
      view = after.reload ? { ...view, number: number + 1 } : after;
      if ((number + 1) % KEEP_EVERY === 0 && this.#kept.length === (number + 1) / KEEP_EVERY) this.#kept.push(view);
    }
    return view;
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  trigger: "the run was triggered",
  claimRequested: "an agent has asked for it",
  reported: "an agent has reported",
  stop: "a user has stopped the run",
  pause: "a user has paused the run",
  resume: "a user has resumed the run",
  approve: "a user has approved",
  reject: "a user has rejected",
  cancel: "a user has cancelled it",
  agentLost: "its agent is lost",
  eventsPushed: "a step has told it",
};

/** Why the event happened, for people: `an agent has reported (build-1)`. `names`: of agents, by their ids. */
export function causeText({ cause, by }: RunEvent, names: ReadonlyMap<string, string> = new Map()): string {
  const text =
    CAUSES[cause] ?? cause.replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return by === "" ? text : `${text} (${names.get(by) ?? by})`;
}
