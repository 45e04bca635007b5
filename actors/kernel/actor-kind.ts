/**
 * What the kernel needs to know about a kind of actor, and about the aggregate that actors form. The kernel does not
 * read states and messages itself: it asks these functions.
 */
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import type { ActorRef, Decision, LocalEffect, OwedEffect, Timer } from "../../src/domain/effects.ts";
import type { Cause } from "../../src/domain/events.ts";
import type { AgentId, RootId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { ActorIndex, Aggregate, RunSummary, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";

export type Kind = StoredActor["kind"];
export type Effect = OwedEffect | LocalEffect<unknown, unknown>;

export interface ActorKind<State, Message, Next = State> {
  /**
   * Pure. Throws for a message that is not valid in this state, which then becomes a dead letter; and `MissingOutputs`
   * when it needs outputs that were not fetched.
   */
  decide(state: State, message: Message, now: number, plan: RunPlan, peers: Peers): Decision<Next, Effect>;
  index(state: State): ActorIndex;
  /**
   * The actor's timers by name, null for one that is not set. A timer that fires comes as `{ type: "timer", timer,
   * generation }`.
   */
  timers(state: State): readonly (readonly [name: string, timer: Timer | null])[];
  /** The effects to perform again after Redis was emptied. Performing them again does no harm. */
  outstanding(state: State, plan: RunPlan): readonly OwedEffect[];
  /**
   * Since when the actor waits for an agent (Unix milliseconds), and the reason that it was told last; null when it
   * does not wait.
   */
  waitsForAgent(
    state: State,
  ): { readonly since: number; readonly reported: Pick<AgentWait, "reason" | "clause"> | null } | null;
  /** The agent to watch while the actor is in this state, or null. */
  heldBy(state: State): Holder | null;
  /** The key under which `Peers.count` counts an actor in this state, or null; absent for a kind that is not counted. */
  countedAs?(state: State, plan: RunPlan): string | null;
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

/** Any kind of actor: the kernel passes states and messages through without knowing their types. */
export type AnyKind = ActorKind<never, never, unknown>;

/** An actor of an aggregate, for reading. */
export interface ActorView {
  readonly kind: Kind;
  readonly state: unknown;
}

/** How actors form an aggregate with one root. */
export interface AggregateType {
  readonly kinds: Readonly<Partial<Record<Kind, AnyKind>>>;
  /** True when a plan is stored for the aggregate; its actors read it when they decide. */
  readonly isPlanned: boolean;
  /** For an aggregate that its owner creates with the first message to it: the snapshot to store then. */
  readonly initial?: (rootId: RootId, shard: number) => Aggregate<RootId>;
  /** The message of a stored command, and the actor to which it goes. */
  toMessage(command: Command): { readonly to: ActorRef; readonly message: unknown };
  /** The cause that events name when they follow from this message, which came from outside the aggregate. */
  causeOf(message: never): Cause;
  /**
   * The summary for lists. `rootState`: state of the root actor. `bound`: an agent holds one of the actors. `actors`:
   * all actors.
   */
  summarise(rootState: never, bound: boolean, actors: Iterable<ActorView>, plan: RunPlan): RunSummary;
  isFinal(rootState: never): boolean;
  /**
   * Ids of the actors that nothing is decided on since these actors were made, and whose states are final. Absent for an
   * aggregate that has none. `stateOf`: the state of an actor of the aggregate, undefined when it has no such actor.
   */
  attemptsBefore?(actors: Iterable<ActorView>, stateOf: (id: string) => unknown, plan: RunPlan): readonly string[];
  /** The message that tells an actor why no agent takes its work. */
  waitsMessage(wait: AgentWait): unknown;
  /** The message that tells an actor that its agent is lost. */
  agentLostMessage(holder: Holder, reason: string): unknown;
}

/** Throws for a kind of actor that the aggregate does not have. */
export function kindOf(type: AggregateType, kind: Kind): AnyKind {
  const found = type.kinds[kind];
  if (found === undefined) throw new Error(`this aggregate has no ${kind}`);
  return found;
}
