/**
 * One owned shard: its aggregates in memory, and the sweeps. A sweep finds in the store the work for which no envelope
 * has come.
 */
import type { RootId, RunId } from "../../src/domain/ids.ts";
import { type Cancel, pause } from "../../src/domain/clock.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, DueAggregate } from "../../src/stores/ports/aggregates.ts";
import { NewerSchemaError } from "../../src/stores/format/stored-format.ts";
import { Activation } from "./activation.ts";
import { BoundCheck } from "./bound-check.ts";
import { type Holder, kindOf } from "./actor-kind.ts";
import type { DoneCreations } from "./done-creations.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { LeaseWatcher } from "./lease-watcher.ts";
import type { ActorMessage, LiveActor } from "./turn.ts";
import { isInGrace } from "./creator-grace.ts";

/** An aggregate in memory. */
interface Entry {
  readonly activation: Activation;
  /**
   * The loop that takes turns now, or the passivation, so that the two never run at the same time; null for neither.
   */
  running: Promise<void> | null;
  /** Callers of `deliver` that wait until their message is decided, or the aggregate is parked. */
  waiters: (() => void)[];
  /** Set while the aggregate is parked: ends the wait. */
  cancelPark: Cancel | undefined;
  faults: number;
  lastUsedAt: number;
}

/** Entries of one page of a sweep. */
const PAGE = 100;
/** Aggregates that are dropped from memory at the same time: the store puts their saves into few commits. */
const PASSIVATIONS = 64;

/** `done`: the runs whose creators have told that they are done. */
type ShardContext = KernelContext & { readonly done: Pick<DoneCreations, "has"> };

export class Shard {
  readonly #context: ShardContext;
  readonly #watcher: LeaseWatcher;
  readonly #index: number;
  readonly #epoch: number;
  readonly #entries = new Map<RootId, Entry>();
  /**
   * Aggregates that a newer version has stored. This node leaves them alone; a newer node finds them when it owns the
   * shard.
   */
  readonly #unreadable = new Set<RootId>();
  readonly #boundCheck: BoundCheck;
  #open = true;
  #draining = false;
  #sweeping: Promise<void> = Promise.resolve();
  /** The passivation of idle aggregates, which runs beside the sweeps; null for none. */
  #passivating: Promise<void> | null = null;
  #parked = 0;
  #roomWaiters: (() => void)[] = [];

  constructor(context: ShardContext, watcher: LeaseWatcher, index: number, epoch: number) {
    this.#context = context;
    this.#watcher = watcher;
    this.#index = index;
    this.#epoch = epoch;
    this.#boundCheck = new BoundCheck({
      ...context,
      shard: index,
      aggregates: context.stores.aggregates,
      watched: () => watcher.watchedIn(index),
      recheck: (rootId) => this.#recheck(rootId),
    });
  }

  /**
   * Watches the agents of the jobs that are bound already. Rejects when the store cannot be read, or the shard was closed
   * meanwhile.
   */
  async start(): Promise<void> {
    const { aggregates } = this.#context.stores;
    for (let after = ""; ;) {
      const page = await aggregates.pageBoundJobs(this.#index, after, PAGE);
      if (!this.#open) throw new Error("the shard was closed while it was being opened");
      for (const { runId, jobId, actor } of page) {
        const kind = kindOf(this.#context.typeOf(runId), actor.kind);
        this.#watch(runId, actor, kind.heldBy(actor.state as never));
        after = jobId;
      }
      if (page.length < PAGE) break;
    }
  }

  /**
   * Hands a message to an aggregate; `null` is a doorbell without a message. Resolves when the message is decided, when
   * the aggregate is parked with the message in memory, or when the message is dropped because this node cannot read
   * the aggregate.
   */
  async deliver(rootId: RootId, message: ActorMessage | null): Promise<void> {
    if (!this.#open || this.#unreadable.has(rootId)) return;
    const entry = this.#entryOf(rootId);
    entry.activation.add(message);
    return this.#untilDecided(entry);
  }

  /** {@link Kernel.adopt}: as if the aggregate had been loaded now. An aggregate that is in memory already stays as it is. */
  adopt(aggregate: Aggregate, plan: RunPlan): void {
    const { rootId } = aggregate.head;
    if (!this.#open || this.#draining || this.#entries.has(rootId)) return;
    const entry = this.#entryOf(rootId);
    entry.lastUsedAt = this.#context.clock.monotonic();
    entry.activation.adopt(aggregate, plan);
  }

  /**
   * Resolves at once while few aggregates are parked, else when some of them work again: more messages would only fill
   * the memory.
   */
  async waitForRoom(): Promise<void> {
    if (this.#parked < this.#context.timing.parkedMax || !this.#open) return;
    await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /**
   * After Redis was emptied: tells it again all that it must hold for each aggregate that is not settled, runs with
   * bound jobs first. Resolves when Redis was told everything. An aggregate that is parked, or that only a newer node can
   * read, does not hold up the others, but the recovery is not done before it; then the next owner starts it again.
   * Rejects when the shard is closed before.
   */
  async recover(): Promise<void> {
    const { aggregates } = this.#context.stores;
    const seen = new Set<RootId>();
    const untold = new Set<RootId>();
    // The bound ones once more at the end: a run that became bound in between was in neither list.
    for (const bound of [true, false, true]) {
      for (let after = ""; this.#open;) {
        const page = await this.#readUntilDone(() => aggregates.pageUnsettled(this.#index, bound, after, PAGE));
        await Promise.all(page.filter((rootId) => !seen.has(rootId)).map((rootId) => this.refresh(rootId)));
        for (const rootId of page) {
          seen.add(rootId);
          if (this.#isUntold(rootId)) untold.add(rootId);
        }
        if (page.length < PAGE) break;
        after = page.at(-1)!;
      }
    }
    while (this.#open && untold.size > 0) {
      await pause(this.#context.timers, this.#context.timing.sweepMs);
      for (const rootId of untold) if (!this.#isUntold(rootId)) untold.delete(rootId);
    }
    if (!this.#open) throw new Error("the shard was closed before Redis was told everything");
  }

  /**
   * Tells Redis again all that it must hold for this aggregate. Resolves when it was told, or when the aggregate is
   * parked and tells it later.
   */
  async refresh(rootId: RootId): Promise<void> {
    if (!this.#open || this.#unreadable.has(rootId)) return;
    const wasActive = this.#entries.has(rootId);
    const entry = this.#entryOf(rootId);
    entry.activation.refresh();
    await this.#untilDecided(entry);
    // A fault here leaves the aggregate in memory, where a later sweep passivates it.
    if (!wasActive) await this.#passivate(entry).catch(() => undefined);
  }

  async #recheck(rootId: RootId): Promise<void> {
    if (!this.#open || this.#draining || this.#unreadable.has(rootId)) return;
    const entry = this.#entryOf(rootId);
    entry.activation.recheck();
    await this.#untilDecided(entry);
  }

  #isUntold(rootId: RootId): boolean {
    return this.#unreadable.has(rootId) || this.#entries.get(rootId)?.activation.needsRefresh === true;
  }

  /** Ends the sweeps, waits for the turns that run, and passivates all aggregates. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#sweeping;
    await this.#passivating;
    await this.#boundCheck.end();
    for (const { running } of this.#entries.values()) await running?.catch(() => undefined);
    await this.#passivateAll([...this.#entries.values()]).catch(() => undefined);
  }

  /** Forgets all aggregates at once; a turn that runs saves nothing more. */
  close(): void {
    this.#open = false;
    this.#watcher.unwatchShard(this.#index);
    for (const entry of this.#entries.values()) {
      if (entry.cancelPark !== undefined) this.#unpark(entry);
      this.#wakeWaiters(entry);
    }
    this.#context.counters.activations -= this.#entries.size;
    this.#entries.clear();
    this.#context.counters.unreadable -= this.#unreadable.size;
    this.#unreadable.clear();
    this.#wakeRoomWaiters();
  }

  #entryOf(rootId: RootId): Entry {
    const existing = this.#entries.get(rootId);
    if (existing !== undefined) return existing;
    const activation = new Activation(this.#context, this.#index, rootId, {
      isOpen: () => this.#open,
      isCreatorDone: () => this.#context.done.has(rootId),
      onActors: (actors) => this.#updateWatch(rootId, actors),
      epoch: this.#epoch,
    });
    const entry: Entry = { activation, running: null, waiters: [], cancelPark: undefined, faults: 0, lastUsedAt: 0 };
    this.#entries.set(rootId, entry);
    this.#context.counters.activations++;
    return entry;
  }

  #untilDecided(entry: Entry): Promise<void> {
    if (entry.cancelPark !== undefined) return Promise.resolve();
    const decided = new Promise<void>((resolve) => entry.waiters.push(resolve));
    this.#startLoop(entry);
    return decided;
  }

  #startLoop(entry: Entry): void {
    if (entry.running !== null || entry.cancelPark !== undefined) return;
    entry.running = this.#loop(entry).finally(() => {
      entry.running = null;
      if (!this.#open || this.#unreadable.has(entry.activation.rootId)) return;
      if (entry.activation.hasWork) this.#startLoop(entry);
      else if (entry.activation.isSettled) this.#forget(entry);
    });
  }

  async #loop(entry: Entry): Promise<void> {
    const { clock, counters, log } = this.#context;
    try {
      await entry.activation.work();
      entry.faults = 0;
    } catch (error) {
      if (this.#open && error instanceof NewerSchemaError) this.#setAside(entry, error);
      else if (this.#open) {
        counters.faults++;
        entry.faults++;
        // A warning for the first fault in a row only: in an outage of the store thousands of aggregates are parked
        // every few seconds.
        log[entry.faults === 1 ? "warn" : "debug"](
          { runId: entry.activation.rootId, error: String(error), faults: entry.faults },
          "an aggregate is parked",
        );
        this.#park(entry);
      }
    }
    entry.lastUsedAt = clock.monotonic();
    this.#wakeWaiters(entry);
  }

  #wakeWaiters(entry: Entry): void {
    const waiters = entry.waiters;
    entry.waiters = [];
    for (const resolve of waiters) resolve();
  }

  /**
   * Drops the aggregate and its messages. It is not parked, because only a newer version can read it, however long it
   * waits.
   */
  #setAside(entry: Entry, error: NewerSchemaError): void {
    const { counters, log } = this.#context;
    this.#unreadable.add(entry.activation.rootId);
    counters.unreadable++;
    this.#forget(entry);
    log.error(
      { runId: entry.activation.rootId, shard: this.#index, error: error.message },
      "an aggregate was stored by a newer version: it waits until a newer node owns its shard",
    );
  }

  #park(entry: Entry): void {
    const { parkMinMs, parkMaxMs } = this.#context.timing;
    const pauseMs =
      Math.min(parkMaxMs, parkMinMs * 2 ** Math.min(entry.faults - 1, 16)) * (0.75 + this.#context.random() / 2);
    this.#parked++;
    this.#context.counters.parked++;
    entry.cancelPark = this.#context.timers.after(pauseMs, () => {
      this.#unpark(entry);
      this.#startLoop(entry);
    });
  }

  #unpark(entry: Entry): void {
    entry.cancelPark?.();
    entry.cancelPark = undefined;
    this.#parked--;
    this.#context.counters.parked--;
    if (this.#parked < this.#context.timing.parkedMax) this.#wakeRoomWaiters();
  }

  #wakeRoomWaiters(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Repeats a read until it succeeds or the shard is closed, because a recovery must not stop halfway. */
  async #readUntilDone(read: () => Promise<readonly RootId[]>): Promise<readonly RootId[]> {
    while (this.#open) {
      try {
        return await read();
      } catch (error) {
        this.#context.log.warn({ shard: this.#index, error: String(error) }, "recovery waits for the store");
        await pause(this.#context.timers, this.#context.timing.sweepMs);
      }
    }
    return [];
  }

  /** Takes turns for all work that is stored for this shard, without an envelope. Never rejects. */
  sweep(): Promise<void> {
    return this.#inSweep(() => this.#sweep());
  }

  /** True when {@link tidy} would do something now. A worker asks all its shards every second, so the question is cheap. */
  isUntidy(now: number): boolean {
    return this.#entries.size > 0 || this.#boundCheck.isDue(now);
  }

  /** Drops idle aggregates from memory, and now and then checks what is watched. Never rejects. */
  tidy(): Promise<void> {
    return this.#inSweep(async () => {
      this.#startPassivating();
      this.#boundCheck.begin();
    });
  }

  #inSweep(work: () => Promise<void>): Promise<void> {
    if (!this.#open || this.#draining) return Promise.resolve();
    return (this.#sweeping = work().catch((error: unknown) => {
      this.#context.log.warn({ shard: this.#index, error: String(error) }, "a sweep failed; the next one follows");
    }));
  }

  async #sweep(): Promise<void> {
    const { clock, stores } = this.#context;
    const { aggregates, inbox } = stores;
    await this.#ringAll((after) => inbox.pageRoots(this.#index, after, PAGE));
    await this.#ringAll(
      (after) => aggregates.pageOwing(this.#index, after, PAGE),
      // An aggregate in memory performs its owed effects by itself when it has work.
      (rootId) => this.#entries.get(rootId)?.activation.hasWork ?? !this.#isInGrace(rootId),
      (rootId) => this.#performOwed(rootId),
    );
    await this.#ringDue(clock.now());
  }

  async #ringAll(
    nextPage: (after: string) => Promise<readonly RootId[]>,
    shouldRing: (rootId: RootId) => boolean = () => true,
    ring: (rootId: RootId) => Promise<void> = (rootId) => this.deliver(rootId, null),
  ): Promise<void> {
    for (let after = ""; this.#open && !this.#draining;) {
      const page = await nextPage(after);
      await Promise.all(page.filter(shouldRing).map(ring));
      if (page.length < PAGE) return;
      after = page.at(-1)!;
    }
  }

  /**
   * Wakes an aggregate that owes effects. An aggregate that was not in memory leaves it again at once: otherwise new
   * runs that no agent takes would stay in memory for `passivateMs`, and faster creation would need more memory.
   */
  async #performOwed(rootId: RootId): Promise<void> {
    const wasActive = this.#entries.has(rootId);
    await this.deliver(rootId, null);
    const entry = this.#entries.get(rootId);
    if (wasActive || entry === undefined) return;
    await entry.running;
    await this.#passivate(entry);
  }

  async #ringDue(now: number): Promise<void> {
    const { aggregates } = this.#context.stores;
    for (let after: DueAggregate | null = null; this.#open && !this.#draining;) {
      const page: readonly DueAggregate[] = await aggregates.pageDue(this.#index, now, after, PAGE);
      await Promise.all(page.map(({ rootId }) => this.deliver(rootId, null)));
      if (page.length < PAGE) return;
      after = page.at(-1)!;
    }
  }

  /** Begins to drop the idle aggregates, unless the last passivation still runs: a slow store delays no sweep. */
  #startPassivating(): void {
    if (this.#passivating !== null) return;
    const idleSince = this.#context.clock.monotonic() - this.#context.timing.passivateMs;
    const isIdle = ({ running, lastUsedAt }: Entry): boolean => running === null && lastUsedAt <= idleSince;
    this.#passivating = this.#passivateAll([...this.#entries.values()].filter(isIdle))
      .catch((error: unknown) => {
        this.#context.log.warn({ shard: this.#index, error: String(error) }, "idle aggregates stay in memory for now");
      })
      .finally(() => (this.#passivating = null));
  }

  /** Passivates the entries, a bounded number at a time. Rejects when the store fails; the rest stays in memory then. */
  async #passivateAll(entries: readonly Entry[]): Promise<void> {
    for (let at = 0; at < entries.length && this.#open; at += PASSIVATIONS) {
      await Promise.all(entries.slice(at, at + PASSIVATIONS).map((entry) => this.#passivate(entry)));
    }
  }

  /** True while the creator of an aggregate may be performing what it owes; see creator-grace.ts. */
  #isInGrace(rootId: RootId): boolean {
    const { clock, timing, typeOf } = this.#context;
    // Groups are created by their owner.
    if (typeOf(rootId).initial !== undefined) return false;
    return isInGrace(rootId as RunId, clock.now(), timing.creatorMs);
  }

  /**
   * Drops an idle aggregate from memory. Its performed effects are cleared in the store first, so that no sweep
   * performs them again.
   */
  async #passivate(entry: Entry): Promise<void> {
    if (entry.running !== null || entry.cancelPark !== undefined || entry.activation.hasWork) return;
    entry.running = entry.activation.settle();
    try {
      await entry.running;
    } finally {
      entry.running = null;
    }
    if (entry.activation.hasWork) this.#startLoop(entry);
    else this.#forget(entry);
  }

  #forget(entry: Entry): void {
    if (this.#entries.delete(entry.activation.rootId)) this.#context.counters.activations--;
  }

  #updateWatch(rootId: RootId, actors: Iterable<LiveActor>): void {
    // A turn that still runs in a shard that was given up must not touch what the next owner watches.
    if (!this.#open) return;
    for (const actor of actors) {
      const holder = kindOf(this.#context.typeOf(rootId), actor.kind).heldBy(actor.state as never);
      if (holder === null) this.#watcher.unwatch(actor.id);
      else this.#watch(rootId, actor, holder);
    }
  }

  #watch(rootId: RootId, actor: { readonly kind: string; readonly id: string }, holder: Holder | null): void {
    if (holder === null) return;
    const to = { kind: actor.kind, id: actor.id };
    const onLost = (): void => {
      const message = this.#context.typeOf(rootId).agentLostMessage(holder, "its lease ran out");
      void this.deliver(rootId, { to, message });
    };
    this.#watcher.watch(actor.id, { shard: this.#index, rootId, holder, onLost });
  }
}
