/**
 * One stored aggregate in memory, and its turns: the only place that saves a snapshot again. The creator of a run
 * stores its first snapshot, after the run's first turn (`first-turn.ts`).
 * A turn takes all that waits, loads the snapshot unless it is in memory, decides, saves once under the version that it
 * decided on, and performs the effects. The order is what keeps the promises: nothing is performed that is not saved,
 * and what is saved but not performed is found in the snapshot by the next owner of the shard.
 */
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { JobRunId, RootId, RunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import { withStepOutputs } from "../../src/stores/ports/reading-outputs.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import {
  afterCreator,
  type CreatorGrace,
  graceOf,
  graceOfFinal,
  isGraceOver,
  leftByCreator,
  NO_GRACE,
  offeredJobs,
  unheardSteps,
} from "./creator-grace.ts";
import { storeDeadLetters } from "./dead-letters.ts";
import { EndedActors } from "./ended-actors.ts";
import { afterTurn, dueTimers, headAfter, LiveIndex, toStored } from "./head.ts";
import type { KernelContext } from "./kernel-context.ts";
import { eventsOf, isFound, performOwed, toRecords } from "./performer.ts";
import { decideTurn, type ActorMessage, type LiveActor } from "./turn.ts";

/** A snapshot in memory. Only a save that has succeeded changes it, so that a failed turn leaves it as it was. */
interface Loaded {
  readonly head: AggregateHead<RootId>;
  readonly actors: Map<string, LiveActor>;
  readonly plan: RunPlan;
  readonly index: LiveIndex;
  readonly ended: EndedActors;
}

/**
 * `conflict`: another node has saved the aggregate since it was loaded. `missing`: the store has no such aggregate in
 * this shard.
 */
type TurnOutcome = "done" | "conflict" | "missing";

export interface ActivationHooks {
  /** True once the creator of the aggregate has told that it has performed all that the first turn owes. */
  readonly isCreatorDone: () => boolean;
  /** False once this node may save nothing more in the shard. */
  readonly isOpen: () => boolean;
  /**
   * Called with actors as the store has them: all of them after each load, and the changed ones after each save whose
   * answer came. The answer to a save may be lost, so what is kept about actors has to follow from the loads too.
   */
  readonly onActors: (actors: Iterable<LiveActor>) => void;
  /** The epoch of the ownership under which the aggregate is in memory. */
  readonly epoch: number;
}

interface Decided {
  readonly outcome: TurnOutcome;
  /** How many of the messages the turn has decided; the others are for the next turn. */
  readonly decided: number;
}

/** Messages that one turn takes at most. */
const MAX_BATCH = 1_000;
/** Stands for the plan of an aggregate without one; its actors do not read it. */
const NO_PLAN = {} as RunPlan;

export class Activation {
  readonly rootId: RootId;
  readonly shard: number;
  readonly #context: KernelContext;
  readonly #type: AggregateType;
  readonly #isOpen: () => boolean;
  readonly #isCreatorDone: () => boolean;
  readonly #onActors: (actors: Iterable<LiveActor>) => void;
  readonly #epoch: number;
  readonly #waiting: ActorMessage[] = [];
  #loaded: Loaded | null = null;
  /** Effects that are saved and not yet performed. The next turn begins by performing them. */
  #unperformed: readonly OwedRecord[] = [];
  /** Effects that are left to the creator of the aggregate; each save keeps them as owed. */
  #grace: CreatorGrace = NO_GRACE;
  #doorbell = false;
  #refresh = false;
  #recheck = false;

  constructor(context: KernelContext, shard: number, rootId: RootId, hooks: ActivationHooks) {
    this.#context = context;
    this.#type = context.typeOf(rootId);
    this.shard = shard;
    this.rootId = rootId;
    this.#isOpen = hooks.isOpen;
    this.#isCreatorDone = hooks.isCreatorDone;
    this.#onActors = hooks.onActors;
    this.#epoch = hooks.epoch;
  }

  /** Adds a message; `null` is a doorbell: look into the inbox of the aggregate. */
  add(message: ActorMessage | null): void {
    if (message === null) this.#doorbell = true;
    else this.#waiting.push(message);
  }

  /**
   * Takes over an aggregate that its creator has just stored, instead of a load. All that it owes is left to the creator.
   * To be called before any work.
   */
  adopt(aggregate: Aggregate<RootId>, plan: RunPlan): void {
    // The creator does not know in which schema the store has written the head. It was none above that of the next save.
    this.#loaded = this.#toLoaded({ ...aggregate, head: { ...aggregate.head, schema: 0 } }, plan);
    this.#grace = this.#graceOf(aggregate);
    this.#onActors(this.#loaded.actors.values());
  }

  /** Makes the next turn tell Redis again all that it must hold for this aggregate. */
  refresh(): void {
    this.#refresh = true;
  }

  /** Makes the next turn ask the store whether another owner has saved the aggregate since it was loaded. */
  recheck(): void {
    this.#recheck = true;
  }

  get hasWork(): boolean {
    const isAsked = this.#doorbell || this.#refresh || this.#recheck;
    return this.#waiting.length > 0 || isAsked || this.#unperformed.length > 0 || this.#isGraceOver();
  }

  /**
   * Takes turns until no message waits. Rejects on a fault; the messages are kept then, and a later call decides them.
   */
  async work(): Promise<void> {
    while (this.hasWork && this.#isOpen()) {
      if ((await this.#turn()) === "missing") this.#waiting.length = 0;
    }
  }

  /**
   * Saves that the performed effects are no longer owed, so that the aggregate can be dropped from memory. Idempotent.
   */
  async settle(): Promise<void> {
    this.#endGraceOfDone();
    const loaded = this.#loaded;
    const { owed } = this.#grace;
    if (loaded === null || this.#unperformed.length > 0 || loaded.head.owed.length === owed.length) return;
    await this.#save(loaded, { ...loaded.head, owed });
  }

  /** True until Redis was told what {@link refresh} asked for. */
  get needsRefresh(): boolean {
    return this.#refresh;
  }

  /** True when the aggregate is final and owes nothing. */
  get isSettled(): boolean {
    return this.#loaded?.head.settled ?? false;
  }

  async #turn(): Promise<TurnOutcome> {
    const found = this.#loaded ?? (await this.#load());
    this.#endGraceOfDone();
    if (found === null) {
      this.#doorbell = this.#refresh = this.#recheck = false;
      return "missing";
    }
    // What is left to perform follows from an earlier read. A successor of this owner may have saved since.
    const isLeft = this.#unperformed.length > 0 || this.#isGraceOver();
    if ((isLeft || this.#recheck) && (await this.#isOutOfDate(found))) return "conflict";
    this.#recheck = false;
    await this.#perform(found);
    // Performing may have saved once more, or found that another owner has.
    const loaded = this.#loaded;
    if (loaded === null) return "conflict";
    if (this.#refresh && (await this.#performOutstanding(loaded)) === "conflict") return "conflict";

    const taken = this.#waiting.splice(0, MAX_BATCH);
    try {
      const messages = [...(await this.#takeCommands()), ...this.#dueTimers(loaded), ...taken];
      if (messages.length === 0) return "done";
      const begunAt = this.#context.clock.monotonic();
      const { outcome, decided } = await this.#decideAndSave(loaded, messages);
      this.#context.onTurnTaken?.(this.#context.clock.monotonic() - begunAt);
      const left = outcome === "conflict" ? messages.length : messages.length - decided;
      this.#waiting.unshift(...taken.slice(Math.max(0, taken.length - left)));
      // Commands and timers that were left are found again: the commands in the inbox, the timers in the snapshot.
      if (left > taken.length) this.#doorbell = true;
      return outcome;
    } catch (error) {
      // The save may have been stored or not: the aggregate is loaded again before these messages are decided again.
      this.#waiting.unshift(...taken);
      this.#loaded = null;
      this.#doorbell = true;
      throw error;
    }
  }

  async #load(): Promise<Loaded | null> {
    const { stores } = this.#context;
    const [aggregate, plan] = await Promise.all([
      this.#loadOrCreate(),
      this.#type.isPlanned ? stores.plans.loadPlan(this.rootId as RunId) : NO_PLAN,
    ]);
    if (aggregate === undefined || aggregate.head.shard !== this.shard) return null;
    if (plan === undefined) throw new Error("the plan of this run is not in the store");
    const loaded = this.#toLoaded(aggregate, plan);
    const { actors } = loaded;
    const grace = this.#graceOf(aggregate);
    const owed = aggregate.head.owed.slice(grace.owed.length);
    await this.#storeEvents(aggregate.head, owed);
    // A job that was granted since the offer was saved must not be offered again.
    const unperformed = owed.filter(({ effect }) => effect.type !== "offer" || this.#waits(actors, effect.offer.jobId));
    this.#loaded = loaded;
    this.#grace = grace;
    this.#unperformed = unperformed;
    this.#onActors(actors.values());
    return loaded;
  }

  #toLoaded({ head, actors: stored, apart }: Aggregate<RootId>, plan: RunPlan): Loaded {
    const actors = new Map(stored.map(({ kind, id, state }): [string, LiveActor] => [id, { kind, id, state }]));
    const index = new LiveIndex(this.#type, actors.values());
    return { head, actors, plan, index, ended: new EndedActors(this.#type, plan, apart) };
  }

  #graceOf({ head }: Aggregate<RootId>): CreatorGrace {
    return graceOf(head, this.#context.clock.now(), this.#context.timing.creatorMs);
  }

  async #loadOrCreate(): Promise<Aggregate<RootId> | undefined> {
    const { aggregates } = this.#context.stores;
    const found = await aggregates.load(this.rootId);
    if (found !== undefined || this.#type.initial === undefined) return found;
    await aggregates.create(this.#type.initial(this.rootId, this.shard));
    return aggregates.load(this.rootId);
  }

  /** Reads the commands that have no answer yet. Only this method reads commands, so no command is decided twice. */
  async #takeCommands(): Promise<readonly ActorMessage[]> {
    if (!this.#doorbell) return [];
    this.#doorbell = false;
    const commands = await this.#context.stores.inbox.pending(this.rootId);
    return commands.map((command) => this.#type.toMessage(command));
  }

  #dueTimers({ actors, index }: Loaded): readonly ActorMessage[] {
    const now = this.#context.clock.now();
    const due = index.dueAt(now).map((id) => actors.get(id)!);
    return dueTimers(due, now, this.#type);
  }

  async #decideAndSave(loaded: Loaded, messages: readonly ActorMessage[]): Promise<Decided> {
    const { clock, counters } = this.#context;
    const type = this.#type;
    const now = clock.now();
    const result = await withStepOutputs(this.#context.stores.outputs, (outputs) =>
      decideTurn(loaded.actors, messages, now, loaded.plan, type, outputs, this.#epoch),
    );
    counters.turns++;
    counters.decided += result.decided;
    counters.late += result.late;
    // The message may be about something that a successor of this owner has saved.
    if (result.undecided.length > 0 && (await this.#isOutOfDate(loaded))) {
      return { outcome: "conflict", decided: result.taken };
    }
    await storeDeadLetters(this.#context, this, result.undecided, now);
    if (result.changed.size === 0) {
      // No state changed, so nothing is saved and nothing can be owed. The sender repeats its message if this answer is
      // lost.
      return { outcome: await this.#performUnsaved(loaded, result.effects, now), decided: result.taken };
    }
    const changed = [...result.changed.values()];
    const root = (result.changed.get(this.rootId) ?? loaded.actors.get(this.rootId))!.state;
    const isFinal = type.isFinal(root as never);
    if (isFinal) this.#grace = graceOfFinal(this.#grace);
    const carried = this.#grace.owed;
    const actors = afterTurn(loaded.actors, result.changed);
    const facts = loaded.index.after(result.changed);
    const after = { root, facts, carried, actors, plan: loaded.plan };
    const head = headAfter(loaded.head, result, after, now, type);
    const settles = isFinal && this.#context.stores.aggregates.savesEventsAtOnce && isFound(head.owed);
    const saved = settles ? { ...head, owed: [] } : head;
    const outcome = await this.#save(loaded, saved, changed, eventsOf(head, head.owed), head.owed);
    if (outcome === "done" && isFinal) {
      // The answer to this save says that the creator's events are stored, so no event is left to the creator.
      this.#unperformed = afterCreator(this.#grace, this.#unperformed);
      this.#grace = NO_GRACE;
    }
    if (outcome === "done") await this.#perform(loaded);
    return { outcome, decided: result.taken };
  }

  async #save(
    loaded: Loaded,
    head: AggregateHead<RootId>,
    changed: readonly LiveActor[] = [],
    events: readonly RunEvent[] = [],
    toPerform: readonly OwedRecord[] = head.owed,
  ): Promise<"done" | "conflict"> {
    if (!this.#isOpen()) throw new Error("the shard has another owner");
    const { stores } = this.#context;
    const type = this.#type;
    const expectedVersion = loaded.head.version;
    const saved = { ...head, version: expectedVersion + 1, settled: head.final && head.owed.length === 0 };
    const left = stores.aggregates.keepsEndedApart ? loaded.ended.leaving(loaded.actors, changed) : [];
    const saving = stores.aggregates.save({
      expectedVersion,
      head: saved,
      changed: toStored(changed, type),
      events,
      keepsStatus: head.summary.status === loaded.head.summary.status,
      ...(left.length > 0 && { ended: toStored(left, type) }),
    });
    this.#context.onSaving?.(toPerform.slice(this.#grace.owed.length));
    const outcome = await saving;
    if (outcome === "versionConflict") {
      this.#forgetLoaded();
      return "conflict";
    }
    this.#context.onTurnSaved?.(changed, loaded.actors, saved, loaded.plan);
    const made = changed.filter(({ id }) => !loaded.actors.has(id));
    for (const actor of changed) loaded.actors.set(actor.id, actor);
    loaded.ended.saved(left, made, loaded.actors);
    loaded.index.update(changed);
    this.#loaded = { ...loaded, head: saved };
    this.#unperformed = toPerform.slice(this.#grace.owed.length);
    this.#onActors(changed);
    return "done";
  }

  async #leftByCreator({ actors, plan }: Loaded): Promise<readonly OwedRecord[]> {
    const { owed } = this.#grace;
    const offered = offeredJobs(owed, (jobId) => this.#waits(actors, jobId));
    const found = await this.#context.board.find(offered);
    const missing = new Set(offered);
    for (const { jobId } of found) missing.delete(jobId);
    const unheard = unheardSteps(owed, (id) => this.#outstanding(actors.get(id)!, plan));
    return leftByCreator(owed, missing, unheard);
  }

  #waits(actors: ReadonlyMap<string, LiveActor>, jobId: JobRunId): boolean {
    const job = actors.get(jobId);
    return job !== undefined && kindOf(this.#type, job.kind).waitsForAgent(job.state as never) !== null;
  }

  /** Between two saves: what a save carries on, and what is performed after it, must rest on the same grace. */
  #endGraceOfDone(): void {
    if (this.#grace.owed.length > 0 && this.#isCreatorDone()) this.#grace = NO_GRACE;
  }

  #isGraceOver(): boolean {
    return isGraceOver(this.#grace, this.#context.clock.now());
  }

  /** Stores the owed events again: the node that saved them as owed may have died before it stored them. Idempotent. */
  async #storeEvents(head: AggregateHead<RootId>, owed: readonly OwedRecord[]): Promise<void> {
    const events = eventsOf(head, owed);
    if (events.length > 0) await this.#context.stores.events.append(events);
  }

  /** Performs the owed effects. A final aggregate that is not settled yet is saved once more, as settled. */
  async #perform(loaded: Loaded): Promise<void> {
    if (this.#isGraceOver()) {
      await this.#storeEvents(loaded.head, this.#grace.owed);
      this.#unperformed = [...(await this.#leftByCreator(loaded)), ...this.#unperformed];
      this.#grace = NO_GRACE;
    }
    if (this.#unperformed.length > 0) {
      // After a save, the saved snapshot is the one in memory.
      const { head } = this.#loaded ?? loaded;
      await performOwed(this.#context, head, afterCreator(this.#grace, this.#unperformed));
      this.#unperformed = [];
    }
    const current = this.#loaded;
    if (current !== null && current.head.final && !current.head.settled) await this.settle();
  }

  async #performOutstanding(loaded: Loaded): Promise<"done" | "conflict"> {
    const { clock } = this.#context;
    const effects: OwedEffect[] = [];
    for (const actor of loaded.actors.values()) effects.push(...this.#outstanding(actor, loaded.plan));
    const outcome = await this.#performUnsaved(loaded, effects, clock.now());
    if (outcome === "done") this.#refresh = false;
    return outcome;
  }

  #outstanding({ kind, state }: LiveActor, plan: RunPlan): readonly OwedEffect[] {
    return kindOf(this.#type, kind).outstanding(state as never, plan);
  }

  /**
   * Performs effects that follow from the snapshot as it is. No save guards them, so the version is read first: an owner
   * that has lost its shard without noticing would otherwise perform what was true before its successor's saves. The
   * version is read without effects too: an earlier owner may have saved after this one has loaded, and messages that
   * change nothing in the old snapshot would keep it in memory for as long as they come.
   */
  async #performUnsaved(loaded: Loaded, effects: readonly OwedEffect[], now: number): Promise<"done" | "conflict"> {
    if (await this.#isOutOfDate(loaded)) return "conflict";
    await performOwed(this.#context, loaded.head, toRecords(effects, now));
    return "done";
  }

  /** True when another node has saved the aggregate since it was loaded; then the snapshot in memory is forgotten. */
  async #isOutOfDate(loaded: Loaded): Promise<boolean> {
    const stored = await this.#context.stores.aggregates.loadHead(this.rootId as RunId);
    if (!this.#isOpen()) throw new Error("the shard has another owner");
    if (stored?.version === loaded.head.version) return false;
    this.#forgetLoaded();
    return true;
  }

  /** Another node has saved the aggregate: it is loaded again before anything is decided. */
  #forgetLoaded(): void {
    this.#context.counters.conflicts++;
    this.#loaded = null;
    this.#doorbell = true;
  }
}
