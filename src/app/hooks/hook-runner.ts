/**
 * Processes the deliveries of hooks, on the worker that owns the shard of the hook: one after the other for each hook, in the
 * order in which they came. Everything is found in the store, so a worker that takes a shard over goes on where the other one was
 * killed. Two workers that both believe to own a shard make the same runs.
 */
import { shardOf } from "../../../queues/shard-map.ts";
import { systemTimers, type Timers } from "../../domain/clock.ts";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import type { HookId } from "../../domain/ids.ts";
import { Passes } from "../../domain/work/passes.ts";
import { HOOKS_CHANNEL, type Unsubscribe } from "../../feed/feed.ts";
import type { ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import type { HookRunContext } from "./context.ts";
import { dropDeliveries, removeDelivery } from "./drop-deliveries.ts";
import { givenUp, processDelivery, type Waiting } from "./process-delivery.ts";
import { runsOf } from "./receive.ts";

/** Between two looks at the store, when no delivery was announced: announcements get lost only while Redis is away. */
const TICK_MS = 10_000;
/** Hooks whose deliveries are processed at the same time. */
const HOOKS_AT_ONCE = 4;
const DELIVERIES_AT_ONCE = 50;
/** The delay after a failure, and the longest one: it doubles from try to try. The next look may come later. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 600_000;
/** A delivery that could not be processed in so many tries fails: after about two days. */
const MAX_FAILURES = 300;
const FAILED_MS = 30 * 86_400_000;
const PRUNE_MS = 60_000;
const PRUNED_AT_ONCE = 200;
/** A delivery whose run is kept is looked at again after this time. */
const POSTPONED_MS = 86_400_000;

export class HookRunner {
  readonly #context: HookRunContext;
  readonly #owned: () => readonly number[];
  readonly #passes: Passes;
  #subscription: Promise<Unsubscribe | undefined> = Promise.resolve(undefined);
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(context: HookRunContext, owned: () => readonly number[], timers: Timers = systemTimers) {
    this.#context = context;
    this.#owned = owned;
    const onFailure = (error: unknown): void =>
      context.log.warn({ error: String(error) }, "deliveries of hooks wait: the next look tries again");
    const { clock } = context;
    this.#passes = new Passes({ clock, timers, periodMs: () => TICK_MS, pass: () => this.pass(), onFailure });
  }

  start(): void {
    this.#subscription = this.#context.feed
      .subscribe(HOOKS_CHANNEL, (message) => this.#hear(message))
      .catch(() => undefined);
    this.#passes.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#passes.stop();
    await (await this.#subscription)?.().catch(() => undefined);
    await stopped;
  }

  /** Processes once everything that is due. Rejects when the store cannot be read or written. */
  async pass(): Promise<void> {
    const { stores, clock } = this.#context;
    const hookIds = (await stores.hooks.owing()).filter((hookId) => this.#owns(hookId));
    const waiting = hookIds.values();
    // A hook whose repository is slow holds up no more than its own lane.
    const lanes = Array.from({ length: HOOKS_AT_ONCE }, async () => {
      for (const hookId of waiting) await this.#processAll(hookId);
    });
    await Promise.all(lanes);
    if (clock.monotonic() - this.#prunedAt < PRUNE_MS) return;
    await this.#prune();
    this.#prunedAt = clock.monotonic();
  }

  #owns(hookId: HookId): boolean {
    return this.#owned().includes(shardOf(hookId as never, this.#context.shards));
  }

  #hear(message: unknown): void {
    const { hookId } = message as { readonly hookId?: HookId };
    if (hookId === undefined || !this.#owns(hookId)) return;
    this.#passes.hurry();
  }

  async #processAll(hookId: HookId): Promise<void> {
    const { stores, clock } = this.#context;
    const hook = await stores.hooks.find(hookId);
    if (hook === undefined) {
      while (await dropDeliveries(this.#context, { hookId }));
      return;
    }
    for (let isMore = true; isMore && !this.#isEnding();) {
      const due = await stores.hooks.due(hookId, clock.now(), DELIVERIES_AT_ONCE);
      for (const delivery of due) {
        if (this.#isEnding() || !this.#owns(hookId)) return;
        await this.#process(hook, delivery);
      }
      isMore = due.length === DELIVERIES_AT_ONCE;
    }
  }

  /** True once it was stopped; a pass that a test calls does not end so. */
  #isEnding(): boolean {
    return this.#passes.state === "stopped";
  }

  async #process(hook: Parameters<typeof processDelivery>[1], delivery: ReceivedDelivery): Promise<void> {
    try {
      const waiting = await processDelivery(this.#context, hook, delivery);
      if (waiting !== undefined) await this.#putOff(delivery, waiting);
    } catch (error) {
      const isExpected = error instanceof MillraceError && ERROR_TABLE[error.reason].retry === "later";
      const text = isExpected ? error.message : "it could not be processed: the log of the worker says why";
      const { deliveryId } = delivery;
      this.#context.log[isExpected ? "debug" : "warn"]({ deliveryId, error: String(error) }, "a delivery is put off");
      await this.#putOff(delivery, { text, dueAt: null });
    }
  }

  /** Stores when the delivery is tried again. Others go before it meanwhile. */
  async #putOff({ deliveryId }: ReceivedDelivery, { text, dueAt }: Waiting): Promise<void> {
    const { stores, clock } = this.#context;
    const stored = await stores.hooks.findDelivery(deliveryId);
    if (stored?.state !== "owed") return;
    const failures = dueAt === null ? stored.failures + 1 : stored.failures;
    const isOver = failures >= MAX_FAILURES;
    const delayMs = isOver ? FAILED_MS : Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    await stores.hooks.saveDelivery({
      ...stored,
      state: isOver ? "failed" : "owed",
      verdicts: isOver ? givenUp(stored.verdicts) : stored.verdicts,
      failures,
      // Due at the same time as the older one, a delivery is processed right after it.
      dueAt: dueAt ?? clock.now() + delayMs,
      error: text,
      version: stored.version + 1,
    });
  }

  /** Removes deliveries whose time is over. One that has started a run is kept as long as the run, which is run again from it. */
  async #prune(): Promise<void> {
    const { stores, clock } = this.#context;
    for (let isMore = true; isMore;) {
      const expired = await stores.hooks.expired(clock.now(), PRUNED_AT_ONCE);
      for (const delivery of expired) {
        if (!(await this.#isNeeded(delivery))) await removeDelivery(this.#context, delivery);
        else {
          const dueAt = clock.now() + POSTPONED_MS;
          await stores.hooks.saveDelivery({ ...delivery, dueAt, version: delivery.version + 1 });
        }
      }
      isMore = expired.length === PRUNED_AT_ONCE;
    }
  }

  async #isNeeded(delivery: ReceivedDelivery): Promise<boolean> {
    for (const runId of runsOf(delivery)) {
      if ((await this.#context.stores.aggregates.loadHead(runId)) !== undefined) return true;
    }
    return false;
  }
}
