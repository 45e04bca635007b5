/** How many agents there should be. Pure. */

/** An agent that was started here and whose process lives. */
export interface SizedAgent {
  readonly slot: number;
  /** `ending`: it takes no more jobs. `starting`: it is not connected yet, or not any more. */
  readonly state: "starting" | "idle" | "busy" | "ending";
  /** How long it has been idle, milliseconds. */
  readonly idleMs: number;
}

export interface SizeBounds {
  readonly min: number;
  readonly max: number;
  /** Jobs that one agent takes at the same time. */
  readonly jobsPerAgent: number;
  /** An agent that has been idle this long is stopped when it is not needed, milliseconds. */
  readonly idleMs: number;
}

export interface SizeChange {
  /** How many agents to start. */
  readonly start: number;
  /** Slots of agents to stop. */
  readonly stop: readonly number[];
}

/** What to change for `waiting` jobs. Agents that work and those that begin are never stopped. */
export function changeSize(waiting: number, agents: readonly SizedAgent[], bounds: SizeBounds): SizeChange {
  const { min, max, jobsPerAgent, idleMs } = bounds;
  const occupied = agents.filter(({ state }) => state === "busy" || state === "ending").length;
  const wanted = Math.min(max, Math.max(min, occupied + Math.ceil(waiting / jobsPerAgent)));
  const surplus = Math.max(0, agents.length - wanted);
  const stoppable = agents.filter((agent) => agent.state === "idle" && agent.idleMs >= idleMs);
  const stop = stoppable.toSorted((a, b) => b.idleMs - a.idleMs).slice(0, surplus);
  return { start: Math.max(0, wanted - agents.length), stop: stop.map(({ slot }) => slot) };
}
