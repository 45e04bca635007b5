/**
 * Tells others what has happened, on the worker that owns the shard of a project (for its events) or of a lane (for its
 * deliveries). Everything is found in the store, so a worker that takes a shard over goes on where the other one was killed. Two
 * workers that both believe to own a shard may send a delivery twice; its id is the same.
 */
import { systemTimers, type Timers } from "../../domain/clock.ts";
import { Passes } from "../../domain/work/passes.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { DELIVERY_MS, retryDelayMs } from "../webhooks/webhook-rules.ts";
import type { Outgoing } from "../../outgoing/outgoing.ts";
import { type Delivery, type DeliveryTry, NOTIFICATION_LANES, STATUS_LANES } from "../../stores/ports/deliveries.ts";
import { type Pauses, statusReceiver } from "../commit-statuses/status-receiver.ts";
import { notificationReceiver } from "../notifications/notification-receiver.ts";
import type { TellingContext } from "../webhooks/context.ts";
import { allListeners, hasListeners, type Listeners, tellingProjects } from "../webhooks/listeners.ts";
import type { Receiver } from "../webhooks/receivers.ts";
import { tellRuns } from "./tell-runs.ts";
import { tellSystemEvents } from "./tell-system-events.ts";
import { webhookReceiver } from "../webhooks/webhook-receiver.ts";

/** Between two looks at the store. */
const TICK_MS = 1_000;
/** The same while no receiver wants to be told anything. */
const IDLE_TICK_MS = 2_000;
/** Requests at once: of a lane, and of this worker. */
const LANE_SENDS = 8;
const SENDS = 64;
/** Those of them that set commit statuses: hosts want few calls at once. */
const SERIAL_SENDS = 8;
/** Tries of a delivery that its record keeps. */
const KEPT_TRIES = 10;
/** How long the record of a delivery is kept after its end. */
const KEPT_MS = 7 * 86_400_000;
/** Records of one deletion, and the time between two deletions. */
const PRUNED_AT_ONCE = 500;
const PRUNE_MS = 60_000;
const STOP_MS = 2_000;

export class Dispatcher {
  readonly #context: TellingContext;
  readonly #owned: () => readonly number[];
  readonly #outgoing: Outgoing;
  readonly #timers: Timers;
  /** The deliveries that are being sent, and the runs of ordered lanes whose turn it is. */
  readonly #busy = new Set<string>();
  readonly #sending = new Map<string, Set<Promise<void>>>();
  #sends = 0;
  #serialSends = 0;
  readonly #pauses: Pauses = new Map();
  #prunedAt = Number.NEGATIVE_INFINITY;
  #isIdle = false;
  readonly #passes: Passes;
  readonly #over = new AbortController();

  constructor(
    context: TellingContext,
    owned: () => readonly number[],
    outgoing: Outgoing,
    timers: Timers = systemTimers,
  ) {
    this.#context = context;
    this.#owned = owned;
    this.#outgoing = outgoing;
    this.#timers = timers;
    this.#passes = new Passes({
      clock: context.clock,
      timers,
      periodMs: () => (this.#isIdle ? IDLE_TICK_MS : TICK_MS),
      pass: () => this.pass(),
      onFailure: (error) =>
        context.log.warn({ error: String(error) }, "what others are to be told waits: the next look tries again"),
    });
  }

  start(): void {
    this.#passes.start();
  }

  /** Waits a moment for the requests that are on their way. Those that have no answer then are sent again later. */
  async stop(): Promise<void> {
    await this.#passes.stop();
    const cancel = this.#timers.after(STOP_MS, () => this.#over.abort());
    await this.settled();
    cancel();
    this.#outgoing.mail?.close();
  }

  /** Looks once at all that is untold and owed, and begins to send. Rejects when the store cannot be read or written. */
  async pass(): Promise<void> {
    const { shards, stores, clock } = this.#context;
    const owned = new Set(this.#owned());
    const isOwned = (id: string): boolean => owned.has(shardOf(id as never, shards));
    const listeners = await allListeners(this.#context);
    const projectIds = (await tellingProjects(this.#context, listeners)).filter(isOwned);
    if (projectIds.length > 0) while (await tellRuns(this.#context, projectIds, listeners));
    while (await tellSystemEvents(this.#context, listeners, isOwned));
    const isPruneDue = clock.monotonic() - this.#prunedAt >= PRUNE_MS;
    // Without listeners only deliveries to deleted ones can be left.
    const isLaneLeft = hasListeners(listeners) || isPruneDue;
    const lanes = isLaneLeft ? (await stores.deliveries.lanes(clock.now())).filter(isOwned) : [];
    for (const lane of lanes) await this.#sendDue(lane, this.#receiverOf(lane, listeners));
    this.#isIdle = !hasListeners(listeners) && lanes.length === 0;
    if (!isPruneDue) return;
    while ((await stores.deliveries.prune(clock.now(), PRUNED_AT_ONCE)) >= PRUNED_AT_ONCE);
    this.#prunedAt = clock.monotonic();
  }

  /** Resolves when no request is on its way. */
  async settled(): Promise<void> {
    while (this.#sends > 0) await Promise.all([...this.#sending.values()].flatMap((lane) => [...lane]));
  }

  #receiverOf(lane: string, { webhooks }: Listeners): Receiver | undefined {
    if (lane.startsWith(NOTIFICATION_LANES)) return notificationReceiver(this.#context, this.#outgoing);
    if (lane.startsWith(STATUS_LANES)) return statusReceiver(this.#context, this.#pauses);
    const found = webhooks.find(({ webhook }) => webhook.webhookId === lane);
    return found && webhookReceiver(this.#context, found, this.#outgoing.request);
  }

  async #sendDue(lane: string, receiver: Receiver | undefined): Promise<void> {
    const { deliveries } = this.#context.stores;
    if (receiver === undefined) {
      // The webhook was deleted.
      await deliveries.drop({ lane }, PRUNED_AT_ONCE);
      return;
    }
    const { serial, ordered } = receiver;
    const ofLane = (serial ? 1 : LANE_SENDS) - (this.#sending.get(lane)?.size ?? 0);
    const free = Math.min(ofLane, SENDS - this.#sends, serial ? SERIAL_SENDS - this.#serialSends : SENDS);
    if (free <= 0) return;
    const due = await deliveries.due(lane, this.#context.clock.now(), LANE_SENDS * 4);
    let begun = 0;
    for (const delivery of due) {
      const key = ordered ? `${lane}/${delivery.runId}` : delivery.deliveryId;
      if (begun >= free || this.#busy.has(key)) continue;
      begun++;
      this.#begin(lane, key, serial, () =>
        ordered ? this.#sendInOrder(receiver, delivery) : this.#sendOne(receiver, delivery),
      );
    }
  }

  #begin(lane: string, key: string, serial: boolean, send: () => Promise<unknown>): void {
    const sending = this.#sending.get(lane) ?? new Set();
    this.#sending.set(lane, sending);
    this.#busy.add(key);
    this.#sends++;
    if (serial) this.#serialSends++;
    const done = send()
      .catch((error: unknown) => {
        this.#context.log.warn({ lane, error: String(error) }, "a delivery waits: its outcome could not be stored");
      })
      .then(() => {
        this.#busy.delete(key);
        this.#sends--;
        if (serial) this.#serialSends--;
        sending.delete(done);
        if (sending.size === 0) this.#sending.delete(lane);
        // What is due behind it is sent at once.
        this.#passes.hurry();
      });
    sending.add(done);
  }

  /** Sends the deliveries of the run from the first owed one on, until one fails or is not due. */
  async #sendInOrder(receiver: Receiver, { lane, runId }: Delivery): Promise<void> {
    const { clock, stores } = this.#context;
    for (let sent = 0; this.#passes.state === "started" || sent === 0; sent++) {
      const first = await stores.deliveries.firstOwed(lane, runId);
      if (first === undefined) return;
      if (first.dueAt > clock.now()) return stores.deliveries.reschedule(lane, runId, first.dueAt);
      const failedUntil = await this.#sendOne(receiver, first);
      if (failedUntil !== null) return stores.deliveries.reschedule(lane, runId, failedUntil);
      // Those behind it may have been put off with it.
      if (first.failures > 0) await stores.deliveries.reschedule(lane, runId, clock.now());
    }
  }

  /** Answers when a delivery that failed is tried again; null for one that has ended. */
  async #sendOne(receiver: Receiver, delivery: Delivery): Promise<number | null> {
    const { clock, stores } = this.#context;
    const { deliveryId, attempts, failures, owedAt, tries } = delivery;
    if (receiver.refusal !== null) {
      const tried: DeliveryTry = {
        at: clock.now(),
        durationMs: 0,
        status: null,
        error: receiver.refusal,
        request: { url: "", headers: {} },
        answer: "",
      };
      await stores.deliveries.record(delivery, {
        state: "failed",
        dueAt: clock.now() + KEPT_MS,
        attempts,
        failures,
        tries: [...tries, tried].slice(-KEPT_TRIES),
      });
      return null;
    }
    const readiness = (await receiver.readiness?.(delivery)) ?? "lasts";
    if (readiness === "over") {
      await stores.deliveries.drop({ deliveryId }, 1);
      return null;
    }
    if (readiness !== "lasts") {
      const later = { state: "owed", dueAt: readiness, attempts, failures, tries } as const;
      await stores.deliveries.record(delivery, later);
      return readiness;
    }
    const { signal } = this.#over;
    const { outcome, tried, notBefore = 0 } = await receiver.send(delivery, signal);
    if (signal.aborted && outcome !== "delivered") return delivery.dueAt;
    const now = clock.now();
    const next = Math.max(notBefore, now + retryDelayMs(deliveryId, failures + 1));
    const isRetried = outcome === "failed" && next - owedAt < DELIVERY_MS;
    const isStored = await stores.deliveries.record(delivery, {
      state: outcome === "delivered" ? "delivered" : isRetried ? "owed" : "failed",
      dueAt: isRetried ? next : now + KEPT_MS,
      attempts: attempts + 1,
      failures: outcome === "delivered" ? 0 : failures + 1,
      tries: [...tries, tried].slice(-KEPT_TRIES),
    });
    if (!isStored) await receiver.overtaken?.(delivery);
    const ended = outcome === "failed" && !isRetried ? "lost" : outcome;
    this.#context.meters?.deliveries.add(`${ended} ${receiver.channelOf(delivery)}`);
    await receiver.noted(ended);
    return isRetried ? next : null;
  }
}
