/**
 * What the kernel needs to know of a kind of actor, and of the aggregate that actors form. The kernel moves states and
 * messages about without looking into them.
 */
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import type { ActorRef, Decision, LocalEffect, OwedEffect } from "../../src/domain/effects.ts";
import type { Cause } from "../../src/domain/events.ts";
import type { AgentId, RootId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Timer } from "../../src/domain/timer.ts";
import type { ActorIndex, Aggregate, RunSummary, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";

export type Kind = StoredActor["kind"];
export type Effect = OwedEffect | LocalEffect<unknown, unknown>;

export interface ActorKind<State, Message, Next = State> {
  /**
   * Pure. Throws for a message that the state cannot meet, which becomes a dead letter, and `MissingOutputs` for what it
   * has to read first.
   */
  decide(state: State, message: Message, now: number, plan: RunPlan, peers: Peers): Decision<Next, Effect>;
  index(state: State): ActorIndex;
  /** Timers that are set; a fired one comes as `{ type: "timer", timer, generation }`. */
  timers(state: State): readonly (readonly [name: string, timer: Timer | null])[];
  /** Effects that Redis must know of although it has forgotten everything. Performing them again does no harm. */
  outstanding(state: State, plan: RunPlan): readonly OwedEffect[];
  /** Since when, Unix milliseconds, the actor waits for an agent, and why as it was told last; null when it does not. */
  waitsForAgent(
    state: State,
  ): { readonly since: number; readonly told: Pick<AgentWait, "reason" | "clause"> | null } | null;
  /** The agent that must be watched while the actor is in this state, or null. */
  heldBy(state: State): Holder | null;
}

/** An agent that holds an actor's work, as it was when the work was granted. */
export interface Holder {
  readonly agentId: AgentId;
  readonly bootId: string;
  /** How long the agent may be silent, milliseconds. */
  readonly leaseMs: number;
  /** Names of the quotas in which the work has a place. */
  readonly quotas: readonly string[];
}

/** Any kind, as the kernel handles it. */
export type AnyKind = ActorKind<never, never, unknown>;

/** An actor as the others of its aggregate may look at it. */
export interface ActorView {
  readonly kind: Kind;
  readonly state: unknown;
}

/** How actors form an aggregate with one root. */
export interface AggregateType {
  readonly kinds: Readonly<Partial<Record<Kind, AnyKind>>>;
  /** Its plan is in the store, and its actors decide by it; else they are given none. */
  readonly isPlanned: boolean;
  /** Of a root that is there as soon as something is said to it: what is stored then. */
  readonly initial?: (rootId: RootId, shard: number) => Aggregate<RootId>;
  /** What a stored command says, and to which actor. */
  delivery(command: Command): { readonly to: ActorRef; readonly message: unknown };
  /** Of what follows from this message from outside: for kinds that publish events. */
  causeOf(message: never): Cause;
  /** From the root's state; `bound`: some actor is held by an agent; `actors`: all of them as they are then. */
  summarise(rootState: never, bound: boolean, actors: Iterable<ActorView>, plan: RunPlan): RunSummary;
  isFinal(rootState: never): boolean;
  /** What an actor is told that has waited long for an agent. */
  waitsMessage(wait: AgentWait): unknown;
  /** What an actor is told when its agent is lost. */
  agentLostMessage(holder: Holder, reason: string): unknown;
}

/** Throws for a kind that the aggregate does not consist of. */
export function kindOf(type: AggregateType, kind: Kind): AnyKind {
  const found = type.kinds[kind];
  if (found === undefined) throw new Error(`this aggregate has no ${kind}`);
  return found;
}
