/** Deciding a turn: messages go in, changed actors and effects come out; nothing is touched outside. Pure. */
import type { ActorRef, OwedEffect } from "../../src/domain/effects.ts";
import type { Cause } from "../../src/domain/events.ts";
import { MissingOutputs, type OutputsReader } from "../../src/domain/outputs.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { type AggregateType, type Kind, kindOf } from "./actor-kind.ts";

type Publish = Extract<OwedEffect, { readonly type: "publish" }>;

export interface LiveActor {
  readonly kind: Kind;
  readonly id: string;
  readonly state: unknown;
}

/** A message on its way to an actor of this aggregate. */
export interface Delivery {
  readonly to: ActorRef;
  readonly message: unknown;
}

export interface UndecidedMessage {
  readonly delivery: Delivery;
  readonly reason: string;
}

export interface TurnResult {
  /** Actors with a new state, and new ones. */
  readonly changed: ReadonlyMap<string, LiveActor>;
  readonly effects: readonly OwedEffect[];
  readonly undecided: readonly UndecidedMessage[];
  /** Messages decided, those sent within the aggregate included. */
  readonly decided: number;
  readonly late: number;
}

/** A chain of messages within one aggregate that is longer than this can only be a loop. */
const MAX_CHAIN = 200_000;

/**
 * Decides messages one after the other. What an actor sends to its own aggregate is decided before the next message,
 * so that a later message never meets a half-told aggregate. Throws `MissingOutputs` when a decision has to read some first.
 */
export function decideTurn(
  actors: ReadonlyMap<string, LiveActor>,
  deliveries: readonly Delivery[],
  now: number,
  plan: RunPlan,
  type: AggregateType,
  outputs: OutputsReader,
): TurnResult {
  const changed = new Map<string, LiveActor>();
  const effects: OwedEffect[] = [];
  const undecided: UndecidedMessage[] = [];
  let decided = 0;
  let late = 0;
  const peers: Peers = { state: (id) => (changed.get(id) ?? actors.get(id))?.state, outputs };
  for (const delivery of deliveries) {
    const chain: Delivery[] = [delivery];
    for (let i = 0; i < chain.length; i++) decideOne(chain[i]!, chain);
  }
  return { changed, effects, undecided, decided, late };

  function decideOne(delivery: Delivery, chain: Delivery[]): void {
    const actor = changed.get(delivery.to.id) ?? actors.get(delivery.to.id);
    if (actor === undefined || actor.kind !== delivery.to.kind) {
      undecided.push({ delivery, reason: `there is no ${delivery.to.kind} ${delivery.to.id} in this aggregate` });
      return;
    }
    decided++;
    try {
      const kind = kindOf(type, actor.kind);
      const decision = kind.decide(actor.state as never, delivery.message as never, now, plan, peers);
      if (decision.entry === "late") late++;
      if (chain.length + decision.effects.length > MAX_CHAIN) throw new Error("the chain of messages does not end");
      if (decision.next !== actor.state) changed.set(actor.id, { ...actor, state: decision.next });
      for (const effect of decision.effects) {
        if (effect.type === "send") chain.push({ to: effect.to, message: effect.message });
        else if (effect.type === "spawn") changed.set(effect.actor.id, spawned(effect.actor, effect.state));
        else if (effect.type === "publish") effects.push(withCause(effect, type.causeOf(chain[0]!.message as never)));
        else effects.push(effect);
      }
    } catch (error) {
      if (error instanceof MissingOutputs) throw error;
      undecided.push({ delivery, reason: error instanceof Error ? error.message : String(error) });
    }
  }
}

function withCause({ type, event }: Publish, cause: Cause): Publish {
  return { type, event: { ...event, data: { ...event.data, ...cause } } };
}

function spawned(actor: ActorRef, state: unknown): LiveActor {
  return { kind: actor.kind as Kind, id: actor.id, state };
}
