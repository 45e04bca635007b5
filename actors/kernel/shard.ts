/**
 * One owned shard: which aggregates are in memory, and the sweeps that find in the store what no envelope has told.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { RootId, RunId } from "../../src/domain/ids.ts";
import type { DueAggregate } from "../../src/stores/ports/aggregates.ts";
import { NewerSchemaError } from "../../src/stores/format/stored-format.ts";
import { Activation } from "./activation.ts";
import { type Holder, kindOf } from "./actor-kind.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { LeaseWatcher } from "./lease-watcher.ts";
import type { ActorMessage, LiveActor } from "./turn.ts";
import { isInGrace } from "./creator-grace.ts";

interface Entry {
  readonly activation: Activation;
  /** The loop that takes turns now, if any. Passivation takes its place too, so that the two never meet. */
  running: Promise<void> | null;
  /** Those who wait until what they delivered is decided, or the aggregate is parked. */
  waiters: (() => void)[];
  parkTimer: NodeJS.Timeout | undefined;
  faults: number;
  lastUsedAt: number;
}

const PAGE = 100;

export class Shard {
  readonly #context: KernelContext;
  readonly #watcher: LeaseWatcher;
  readonly #index: number;
  readonly #entries = new Map<RootId, Entry>();
  /** Aggregates that a newer version has stored. They are left alone: a newer node finds them when it owns the shard. */
  readonly #unreadable = new Set<RootId>();
  #open = true;
  #draining = false;
  #sweepTimer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #parked = 0;
  #unparkWaiters: (() => void)[] = [];

  constructor(context: KernelContext, watcher: LeaseWatcher, index: number) {
    this.#context = context;
    this.#watcher = watcher;
    this.#index = index;
  }

  /** Watches what is bound already, and begins to sweep. Rejects when the store cannot be read. */
  async start(): Promise<void> {
    const { aggregates } = this.#context.stores;
    for (let after = ""; ;) {
      const page = await aggregates.pageBoundJobs(this.#index, after, PAGE);
      for (const { runId, jobId, actor } of page) {
        const kind = kindOf(this.#context.typeOf(runId), actor.kind);
        this.#watch(runId, actor, kind.heldBy(actor.state as never));
        after = jobId;
      }
      if (page.length < PAGE) break;
    }
    this.#scheduleSweep(0);
  }

  /**
   * Hands messages to an aggregate; `null` is a doorbell alone. Resolves when they are decided, or the aggregate is
   * parked with them in memory, or they are dropped since this node cannot read the aggregate.
   */
  async deliver(rootId: RootId, delivery: ActorMessage | null): Promise<void> {
    if (!this.#open || this.#unreadable.has(rootId)) return;
    const entry = this.#entryOf(rootId);
    entry.activation.add(delivery);
    return this.#decided(entry);
  }

  /** Resolves at once while few aggregates are parked: fetching more would only fill the memory. */
  async room(): Promise<void> {
    if (this.#parked < this.#context.timing.parkedMax || !this.#open) return;
    await new Promise<void>((resolve) => this.#unparkWaiters.push(resolve));
  }

  /** Tells Redis again what it must know of every aggregate that is not settled, those with running jobs first. */
  async recover(): Promise<void> {
    const { aggregates } = this.#context.stores;
    for (const bound of [true, false]) {
      for (let after = ""; this.#open;) {
        const page = await this.#retried(() => aggregates.pageUnsettled(this.#index, bound, after, PAGE));
        await Promise.all(page.map((rootId) => this.#refresh(rootId)));
        if (page.length < PAGE) break;
        after = page.at(-1)!;
      }
    }
  }

  /** Ends the sweeps, waits for the turns under way and saves what is in memory. */
  async drain(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#sweepTimer);
    await this.#sweeping;
    for (const entry of this.#entries.values()) {
      await entry.running;
      await this.#passivate(entry).catch(() => undefined);
    }
  }

  /** Forgets everything at once; a turn under way saves nothing more. */
  close(): void {
    this.#open = false;
    clearTimeout(this.#sweepTimer);
    this.#watcher.unwatchShard(this.#index);
    for (const entry of this.#entries.values()) {
      if (entry.parkTimer !== undefined) this.#unpark(entry);
      this.#release(entry);
    }
    this.#context.counters.activations -= this.#entries.size;
    this.#entries.clear();
    this.#context.counters.unreadable -= this.#unreadable.size;
    this.#unreadable.clear();
    this.#wakeRoom();
  }

  #entryOf(rootId: RootId): Entry {
    const existing = this.#entries.get(rootId);
    if (existing !== undefined) return existing;
    const activation = new Activation(this.#context, this.#index, rootId, {
      isOpen: () => this.#open,
      onSaved: (actor) => this.#watchSaved(rootId, actor),
    });
    const entry: Entry = { activation, running: null, waiters: [], parkTimer: undefined, faults: 0, lastUsedAt: 0 };
    this.#entries.set(rootId, entry);
    this.#context.counters.activations++;
    return entry;
  }

  #decided(entry: Entry): Promise<void> {
    if (entry.parkTimer !== undefined) return Promise.resolve();
    const decided = new Promise<void>((resolve) => entry.waiters.push(resolve));
    this.#kick(entry);
    return decided;
  }

  #kick(entry: Entry): void {
    if (entry.running !== null || entry.parkTimer !== undefined) return;
    entry.running = this.#loop(entry).finally(() => {
      entry.running = null;
      if (!this.#open || this.#unreadable.has(entry.activation.rootId)) return;
      if (entry.activation.hasWork) this.#kick(entry);
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
        // Once a series: in an outage of the store thousands may be parked, each of them again every few seconds.
        log[entry.faults === 1 ? "warn" : "debug"](
          { runId: entry.activation.rootId, error: String(error), faults: entry.faults },
          "an aggregate is parked",
        );
        this.#park(entry);
      }
    }
    entry.lastUsedAt = clock.monotonic();
    this.#release(entry);
  }

  #release(entry: Entry): void {
    const waiters = entry.waiters;
    entry.waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** What waits is dropped, and neither memory nor the room for parked ones is spent: time alone mends nothing here. */
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
    const pauseMs = Math.min(parkMaxMs, parkMinMs * 2 ** Math.min(entry.faults - 1, 16)) * (0.75 + Math.random() / 2);
    this.#parked++;
    this.#context.counters.parked++;
    entry.parkTimer = setTimeout(() => {
      this.#unpark(entry);
      this.#kick(entry);
    }, pauseMs);
  }

  #unpark(entry: Entry): void {
    clearTimeout(entry.parkTimer);
    entry.parkTimer = undefined;
    this.#parked--;
    this.#context.counters.parked--;
    if (this.#parked < this.#context.timing.parkedMax) this.#wakeRoom();
  }

  #wakeRoom(): void {
    const waiters = this.#unparkWaiters;
    this.#unparkWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Repeats a read until it succeeds or the shard is closed: a recovery may not end half-way. */
  async #retried(read: () => Promise<readonly RootId[]>): Promise<readonly RootId[]> {
    while (this.#open) {
      try {
        return await read();
      } catch (error) {
        this.#context.log.warn({ shard: this.#index, error: String(error) }, "recovery waits for the store");
        await sleep(this.#context.timing.sweepMs);
      }
    }
    return [];
  }

  async #refresh(rootId: RootId): Promise<void> {
    if (this.#unreadable.has(rootId)) return;
    const wasActive = this.#entries.has(rootId);
    const entry = this.#entryOf(rootId);
    entry.activation.refresh();
    await this.#decided(entry);
    if (!wasActive) await this.#passivate(entry);
  }

  #scheduleSweep(delayMs: number): void {
    if (!this.#open || this.#draining) return;
    this.#sweepTimer = setTimeout(() => {
      this.#sweeping = this.#sweep()
        .catch((error: unknown) => {
          this.#context.log.warn({ shard: this.#index, error: String(error) }, "a sweep failed; the next one follows");
        })
        .finally(() => this.#scheduleSweep(this.#context.timing.sweepMs));
    }, delayMs);
  }

  async #sweep(): Promise<void> {
    const { clock, stores } = this.#context;
    const { aggregates, inbox } = stores;
    await this.#ringAll((after) => inbox.pageRoots(this.#index, after, PAGE));
    await this.#ringAll(
      (after) => aggregates.pageOwing(this.#index, after, PAGE),
      // An aggregate in memory performs what it owes by itself, when it has work.
      (rootId) => this.#entries.get(rootId)?.activation.hasWork ?? !this.#isInGrace(rootId),
    );
    await this.#ringDue(clock.now());
    await this.#passivateIdle();
  }

  async #ringAll(
    nextPage: (after: string) => Promise<readonly RootId[]>,
    isWanted: (rootId: RootId) => boolean = () => true,
  ): Promise<void> {
    for (let after = ""; this.#open && !this.#draining;) {
      const page = await nextPage(after);
      await Promise.all(page.filter(isWanted).map((rootId) => this.deliver(rootId, null)));
      if (page.length < PAGE) return;
      after = page.at(-1)!;
    }
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

  async #passivateIdle(): Promise<void> {
    const idleSince = this.#context.clock.monotonic() - this.#context.timing.passivateMs;
    for (const entry of this.#entries.values()) {
      if (entry.lastUsedAt <= idleSince) await this.#passivate(entry);
    }
  }

  /** True while the creator of an aggregate may be performing what it owes; see creator-grace.ts. */
  #isInGrace(rootId: RootId): boolean {
    const { clock, timing, typeOf } = this.#context;
    // Groups are created by their owner.
    if (typeOf(rootId).initial !== undefined) return false;
    return isInGrace(rootId as RunId, clock.now(), timing.creatorMs);
  }

  /** Drops an idle aggregate from memory. What was performed is cleared first, so that no sweep performs it again. */
  async #passivate(entry: Entry): Promise<void> {
    if (entry.running !== null || entry.parkTimer !== undefined || entry.activation.hasWork) return;
    entry.running = entry.activation.settle();
    try {
      await entry.running;
    } finally {
      entry.running = null;
    }
    if (entry.activation.hasWork) this.#kick(entry);
    else this.#forget(entry);
  }

  #forget(entry: Entry): void {
    if (this.#entries.delete(entry.activation.rootId)) this.#context.counters.activations--;
  }

  #watchSaved(rootId: RootId, actor: LiveActor): void {
    const holder = kindOf(this.#context.typeOf(rootId), actor.kind).heldBy(actor.state as never);
    if (holder === null) this.#watcher.unwatch(actor.id);
    else this.#watch(rootId, actor, holder);
  }

  #watch(rootId: RootId, actor: { readonly kind: string; readonly id: string }, holder: Holder | null): void {
    if (holder === null) return;
    const to = { kind: actor.kind, id: actor.id };
    const onLost = (): void => {
      const message = this.#context.typeOf(rootId).agentLostMessage(holder, "its lease ran out");
      void this.deliver(rootId, { to, message });
    };
    this.#watcher.watch(actor.id, { shard: this.#index, holder, onLost });
  }
}
