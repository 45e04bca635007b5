/** The decisions of a turn: messages go in; changed actors and effects come out. Pure. */
import type { ActorRef, OwedEffect } from "../../src/domain/effects.ts";
import type { Cause } from "../../src/domain/events.ts";
import { MissingOutputs, type OutputsReader } from "../../src/domain/outputs.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { ENOUGH_TURN_WORK, MAX_TURN_WORK, WorkBudget } from "../../src/domain/work/work-budget.ts";
import { ActorCounts } from "./actor-counts.ts";
import { type AggregateType, type Kind, kindOf } from "./actor-kind.ts";

type Publish = Extract<OwedEffect, { readonly type: "publish" }>;

export interface LiveActor {
  readonly kind: Kind;
  readonly id: string;
  readonly state: unknown;
}

/** A message to one actor of an aggregate. */
export interface ActorMessage {
  readonly to: ActorRef;
  readonly message: unknown;
}

/** A message that its actor could not decide: it becomes a dead letter. */
export interface UndecidedMessage {
  readonly message: ActorMessage;
  readonly reason: string;
}

export interface TurnResult {
  /** Actors with a new state, and new ones. */
  readonly changed: ReadonlyMap<string, LiveActor>;
  readonly effects: readonly OwedEffect[];
  readonly undecided: readonly UndecidedMessage[];
  /** How many of the given messages were decided, from the first one on; see {@link ENOUGH}. */
  readonly taken: number;
  /** Number of messages decided, messages within the aggregate included. */
  readonly decided: number;
  /** How many of them were `late`. */
  readonly late: number;
  /** How often decisions read the state of another actor. */
  readonly read: number;
}

/**
 * Longest chain of messages within one aggregate. A longer chain can only be a loop: the greatest run has 250,000 needs,
 * 10,000 first attempts, and the end of each may come in one chain.
 */
const MAX_CHAIN = 600_000;

/**
 * A turn that has decided so many messages, messages within the aggregate included, begins no other given message: the
 * rest is for the next turn. So neither the time of a turn nor what it owes grows with the number of waiting messages.
 */
const ENOUGH = 2_000;
/** The same for effects: one message may bring a thousand events that a step has pushed. */
const ENOUGH_EFFECTS = 4_000;

/**
 * Decides messages one after the other. A message that an actor sends to its own aggregate is decided before the next
 * message, so that the next message meets actors that agree with each other. Each given message has a budget of work of
 * its own for the expressions that it makes the actors evaluate: its outcome does not depend on what else waits. `epoch`:
 * that of the owner. Throws `MissingOutputs` when a decision needs outputs that were not fetched.
 */
export function decideTurn(
  actors: ReadonlyMap<string, LiveActor>,
  messages: readonly ActorMessage[],
  now: number,
  plan: RunPlan,
  type: AggregateType,
  outputs: OutputsReader,
  epoch = 0,
): TurnResult {
  const turn = new Turn(actors, now, plan, type, outputs, epoch);
  let spent = 0;
  let taken = 0;
  for (; taken < messages.length && !turn.isFull && spent < ENOUGH_TURN_WORK; taken++) {
    turn.work = new WorkBudget(MAX_TURN_WORK);
    const chain: ActorMessage[] = [messages[taken]!];
    for (let i = 0; i < chain.length; i++) turn.decide(chain[i]!, chain);
    spent += turn.work.used;
  }
  const { changed, effects, undecided, decided, late, read } = turn;
  return { changed, effects, undecided, taken, decided, late, read };
}

/** The decisions of one turn so far, and what actors may read for the next one. */
class Turn implements Peers {
  readonly changed = new Map<string, LiveActor>();
  readonly effects: OwedEffect[] = [];
  readonly undecided: UndecidedMessage[] = [];
  decided = 0;
  late = 0;
  read = 0;
  work = new WorkBudget(MAX_TURN_WORK);
  readonly outputs: OutputsReader;
  readonly epoch: number;
  readonly #actors: ReadonlyMap<string, LiveActor>;
  readonly #now: number;
  readonly #plan: RunPlan;
  readonly #type: AggregateType;
  readonly #counts: ActorCounts;

  constructor(
    actors: ReadonlyMap<string, LiveActor>,
    now: number,
    plan: RunPlan,
    type: AggregateType,
    outputs: OutputsReader,
    epoch: number,
  ) {
    this.#actors = actors;
    this.#now = now;
    this.#plan = plan;
    this.#type = type;
    this.#counts = new ActorCounts(plan, type);
    this.outputs = outputs;
    this.epoch = epoch;
  }

  /** The rest of the messages is for the next turn. */
  get isFull(): boolean {
    return this.decided >= ENOUGH || this.effects.length >= ENOUGH_EFFECTS;
  }

  state(id: string): unknown {
    this.read++;
    return this.#find(id)?.state;
  }

  count(key: string): number {
    return this.#counts.of(key, this.#actors, this.changed);
  }

  /** Decides one message, and appends to its `chain` what the actor sends to its own aggregate. */
  decide(message: ActorMessage, chain: ActorMessage[]): void {
    const { to } = message;
    const actor = this.#find(to.id);
    if (actor === undefined || actor.kind !== to.kind) {
      this.undecided.push(undecidedMessage(message, `there is no ${to.kind} ${to.id} in this aggregate`));
      return;
    }
    this.decided++;
    this.work.beginDecision();
    try {
      const kind = kindOf(this.#type, actor.kind);
      const decision = kind.decide(actor.state as never, message.message as never, this.#now, this.#plan, this);
      if (decision.entry === "late") this.late++;
      if (chain.length + decision.effects.length > MAX_CHAIN) throw new Error("the chain of messages does not end");
      if (decision.next !== actor.state) this.#put(actor, { kind: actor.kind, id: actor.id, state: decision.next });
      let cause: Cause | undefined;
      for (const effect of decision.effects) {
        if (effect.type === "send") chain.push(effect);
        else if (effect.type === "spawn") this.#put(this.#find(effect.actor.id), spawned(effect.actor, effect.state));
        else if (effect.type === "publish") {
          cause ??= this.#type.causeOf(chain[0]!.message as never);
          this.effects.push(withCause(effect, cause));
        } else this.effects.push(effect);
      }
    } catch (error) {
      if (error instanceof MissingOutputs) throw error;
      this.undecided.push(undecidedMessage(message, error instanceof Error ? error.message : String(error)));
    }
  }

  #find(id: string): LiveActor | undefined {
    return this.changed.get(id) ?? this.#actors.get(id);
  }

  #put(before: LiveActor | undefined, actor: LiveActor): void {
    this.#counts.change(before, actor);
    this.changed.set(actor.id, actor);
  }
}

/** Without what the effect that sent the message has besides: a dead letter is stored. */
function undecidedMessage({ to, message }: ActorMessage, reason: string): UndecidedMessage {
  return { message: { to, message }, reason };
}

/** Without a member behind a spread, which takes V8 of Node 20 some microseconds: a turn publishes thousands of events. */
function withCause({ type, event }: Publish, { cause, by }: Cause): Publish {
  const { object, lifecycle, jobId, stepRunId, status } = event;
  const data = Object.assign({}, event.data, { cause, by });
  return { type, event: { object, lifecycle, jobId, stepRunId, status, data } as Publish["event"] };
}

function spawned(actor: ActorRef, state: unknown): LiveActor {
  return { kind: actor.kind as Kind, id: actor.id, state };
}
