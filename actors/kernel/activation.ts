/**
 * One aggregate in memory, and the turn: the only place where snapshots are saved.
 *
 * A turn takes all that waits, loads the snapshot unless it is in memory, decides, saves once under the version that it
 * decided on, and performs the effects. The order is what keeps the promises: nothing is performed that is not saved,
 * and what is saved but not performed is found in the snapshot by whoever owns the shard next.
 */
import { createHash } from "node:crypto";
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateHead, OwedRecord, StoredActor } from "../../src/stores/aggregates.ts";
import type { KernelContext } from "./kernel-context.ts";
import { eventsOf, performOwed } from "./performer.ts";
import { decideTurn, type Delivery, type LiveActor, type TurnResult, type UndecidedLetter } from "./turn.ts";

/** A snapshot in memory. Only a save that has succeeded changes it, so that a failed turn leaves it as it was. */
interface Loaded {
  readonly head: AggregateHead;
  readonly actors: Map<string, LiveActor>;
  readonly plan: RunPlan;
  /** Actors that an agent holds. */
  readonly held: Set<string>;
  /** Actors that have timers, with their earliest. */
  readonly dueAt: Map<string, number>;
}

/** How a step of the loop ended: more may be waiting, nothing is, or there is no such aggregate. */
type TurnOutcome = "done" | "conflict" | "missing";

const MAX_BATCH = 1_000;

export class Activation {
  readonly rootId: RunId;
  readonly shard: number;
  readonly #context: KernelContext;
  readonly #isOpen: () => boolean;
  readonly #onSaved: (actor: LiveActor) => void;
  readonly #waiting: Delivery[] = [];
  #loaded: Loaded | null = null;
  /** Saved and not yet performed; the next turn waits for them. */
  #unperformed: readonly OwedRecord[] = [];
  #doorbell = false;
  #refresh = false;

  constructor(
    context: KernelContext,
    shard: number,
    rootId: RunId,
    hooks: { readonly isOpen: () => boolean; readonly onSaved: (actor: LiveActor) => void },
  ) {
    this.#context = context;
    this.shard = shard;
    this.rootId = rootId;
    this.#isOpen = hooks.isOpen;
    this.#onSaved = hooks.onSaved;
  }

  /** Adds a message; `null` is a doorbell alone. */
  add(delivery: Delivery | null): void {
    if (delivery === null) this.#doorbell = true;
    else this.#waiting.push(delivery);
  }

  /** Asks for all that Redis must know of this aggregate to be told again. */
  refresh(): void {
    this.#refresh = true;
  }

  get hasWork(): boolean {
    return this.#waiting.length > 0 || this.#doorbell || this.#refresh || this.#unperformed.length > 0;
  }

  /** Takes turns until nothing waits. Rejects on a fault; then what waited still waits, and a later call goes on. */
  async work(): Promise<void> {
    while (this.hasWork && this.#isOpen()) {
      if ((await this.#turn()) === "missing") this.#waiting.length = 0;
    }
  }

  /** Saves what passivation needs: effects that are performed are no longer owed. Idempotent. */
  async settle(): Promise<void> {
    const loaded = this.#loaded;
    if (loaded === null || this.#unperformed.length > 0 || loaded.head.owed.length === 0) return;
    await this.#save(loaded, { ...loaded.head, owed: [] });
  }

  /** True when the aggregate is over and nothing of it is owed. */
  get isSettled(): boolean {
    return this.#loaded?.head.settled ?? false;
  }

  async #turn(): Promise<TurnOutcome> {
    const found = this.#loaded ?? (await this.#load());
    if (found === null) {
      this.#doorbell = this.#refresh = false;
      return "missing";
    }
    await this.#perform(found);
    // Performing may have saved once more, or found that another owner has.
    const loaded = this.#loaded;
    if (loaded === null) return "conflict";
    if (this.#refresh) await this.#performOutstanding(loaded);

    const taken = this.#waiting.splice(0, MAX_BATCH);
    try {
      const deliveries = [...(await this.#takeCommands(loaded)), ...this.#dueTimers(loaded), ...taken];
      if (deliveries.length === 0) return "done";
      const outcome = await this.#decideAndSave(loaded, deliveries);
      if (outcome === "conflict") this.#waiting.unshift(...taken);
      return outcome;
    } catch (error) {
      // The save may or may not have been stored: the store is asked again before these are decided again.
      this.#waiting.unshift(...taken);
      this.#loaded = null;
      this.#doorbell = true;
      throw error;
    }
  }

  async #load(): Promise<Loaded | null> {
    const { stores } = this.#context;
    const [aggregate, plan] = await Promise.all([
      stores.aggregates.load(this.rootId),
      stores.plans.loadPlan(this.rootId),
    ]);
    if (aggregate === undefined || aggregate.head.shard !== this.shard) return null;
    if (plan === undefined) throw new Error("the plan of this run is not in the store");
    const loaded: Loaded = {
      head: aggregate.head,
      actors: new Map(),
      plan,
      held: new Set(),
      dueAt: new Map(),
    };
    for (const { kind, id, state } of aggregate.actors) {
      loaded.actors.set(id, { kind, id, state });
      this.#index({ kind, id, state }, loaded.held, loaded.dueAt);
    }
    // Whoever saved it may have died before its events were stored.
    const events = eventsOf(aggregate.head, aggregate.head.owed);
    if (events.length > 0) await stores.events.append(events);
    this.#loaded = loaded;
    this.#unperformed = aggregate.head.owed;
    return loaded;
  }

  /** Commands are read here and nowhere else: what was answered is never decided again. */
  async #takeCommands(loaded: Loaded): Promise<readonly Delivery[]> {
    if (!this.#doorbell) return [];
    this.#doorbell = false;
    const commands = await this.#context.stores.inbox.pending(this.rootId);
    const to = { kind: "run", id: loaded.head.rootId };
    return commands.map((command) => ({ to, message: this.#context.type.commandMessage(command) }));
  }

  #dueTimers(loaded: Loaded): readonly Delivery[] {
    const now = this.#context.clock.now();
    const due: Delivery[] = [];
    for (const [id, earliest] of loaded.dueAt) {
      if (earliest > now) continue;
      const actor = loaded.actors.get(id)!;
      for (const [timer, set] of this.#context.type.kinds[actor.kind].timers(actor.state as never)) {
        if (set === null || set.dueAt > now) continue;
        due.push({ to: actor, message: { type: "timer", timer, generation: set.generation } });
      }
    }
    return due;
  }

  async #decideAndSave(loaded: Loaded, deliveries: readonly Delivery[]): Promise<TurnOutcome> {
    const { clock, counters, type } = this.#context;
    const now = clock.now();
    const result = decideTurn(loaded.actors, deliveries, now, loaded.plan, type);
    counters.turns++;
    counters.decided += result.decided;
    counters.late += result.late;
    await this.#buryUndecided(result.undecided, now);
    if (result.changed.size === 0) {
      // Nothing changed, so nothing can be owed: whoever asked will ask again if this answer is lost.
      await performOwed(this.#context, loaded.head, unsaved(result.effects, now));
      return "done";
    }
    const next = this.#advance(loaded, result, now);
    const outcome = await this.#save(loaded, next.head, [...result.changed.values()], next);
    if (outcome === "done") await this.#perform(loaded);
    return outcome;
  }

  /** The head after a turn, and what is held and due then. */
  #advance(loaded: Loaded, result: TurnResult, now: number): Pick<Loaded, "head" | "held" | "dueAt"> {
    const { type } = this.#context;
    const held = new Set(loaded.held);
    const dueAt = new Map(loaded.dueAt);
    for (const actor of result.changed.values()) this.#index(actor, held, dueAt);
    let eventNumber = loaded.head.eventNumber;
    const owed = result.effects.map((effect): OwedRecord => {
      return { effect, eventNumber: effect.type === "publish" ? ++eventNumber : null, at: now };
    });
    const root = (result.changed.get(this.rootId) ?? loaded.actors.get(this.rootId))!.state as never;
    const head: AggregateHead = {
      ...loaded.head,
      eventNumber,
      owed,
      final: type.isFinal(root),
      nextDueAt: dueAt.size === 0 ? null : Math.min(...dueAt.values()),
      summary: type.summarise(root, held.size > 0),
    };
    return { head, held, dueAt };
  }

  async #save(
    loaded: Loaded,
    head: AggregateHead,
    changed: readonly LiveActor[] = [],
    next: Pick<Loaded, "held" | "dueAt"> = loaded,
  ): Promise<"done" | "conflict"> {
    if (!this.#isOpen()) throw new Error("the shard has another owner");
    const { stores, counters, type } = this.#context;
    const expectedVersion = loaded.head.version;
    const saved = { ...head, version: expectedVersion + 1, settled: head.final && head.owed.length === 0 };
    const outcome = await stores.aggregates.save({
      expectedVersion,
      head: saved,
      changed: changed.map(({ kind, id, state }): StoredActor => {
        return { kind, id, state, index: type.kinds[kind].index(state as never) };
      }),
      events: eventsOf(saved, saved.owed),
    });
    if (outcome === "versionConflict") {
      counters.conflicts++;
      this.#loaded = null;
      this.#doorbell = true;
      return "conflict";
    }
    this.#context.onTurnSaved?.(changed, loaded.actors);
    for (const actor of changed) loaded.actors.set(actor.id, actor);
    this.#loaded = { ...loaded, head: saved, held: next.held, dueAt: next.dueAt };
    this.#unperformed = saved.owed;
    for (const actor of changed) this.#onSaved(actor);
    return "done";
  }

  /** Performs what is owed; a final aggregate is saved once more, as settled. */
  async #perform(loaded: Loaded): Promise<void> {
    if (this.#unperformed.length > 0) {
      await performOwed(this.#context, loaded.head, this.#unperformed);
      this.#unperformed = [];
    }
    const current = this.#loaded;
    if (current !== null && current.head.final && !current.head.settled) await this.settle();
  }

  async #performOutstanding(loaded: Loaded): Promise<void> {
    const { clock, type } = this.#context;
    const effects: OwedEffect[] = [];
    for (const actor of loaded.actors.values()) {
      effects.push(...type.kinds[actor.kind].outstanding(actor.state as never, loaded.plan));
    }
    await performOwed(this.#context, loaded.head, unsaved(effects, clock.now()));
    this.#refresh = false;
  }

  async #buryUndecided(undecided: readonly UndecidedLetter[], now: number): Promise<void> {
    const { counters, log, stores } = this.#context;
    for (const { delivery, reason } of undecided) {
      const id = createHash("sha256")
        .update(`${this.rootId}${JSON.stringify(delivery)}`)
        .digest("hex");
      await stores.deadLetters.insert({
        id,
        shard: this.shard,
        rootId: this.rootId,
        letter: delivery,
        reason,
        at: now,
      });
      counters.deadLetters++;
      log.error({ runId: this.rootId, to: delivery.to, reason }, "a message could not be decided: dead letter");
    }
  }

  #index(actor: LiveActor, held: Set<string>, dueAt: Map<string, number>): void {
    const kind = this.#context.type.kinds[actor.kind];
    if (kind.heldBy(actor.state as never) === null) held.delete(actor.id);
    else held.add(actor.id);
    const set = kind.timers(actor.state as never).flatMap(([, timer]) => (timer === null ? [] : [timer.dueAt]));
    if (set.length === 0) dueAt.delete(actor.id);
    else dueAt.set(actor.id, Math.min(...set));
  }
}

function unsaved(effects: readonly OwedEffect[], at: number): readonly OwedRecord[] {
  return effects.map((effect) => ({ effect, eventNumber: null, at }));
}
