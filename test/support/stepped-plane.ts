/**
 * A plane that stands still until it is told to go on: the real use cases, kernel and stores, with a clock that is put
 * forward by hand. What lies between nodes (mailboxes, board, feed) is memory here, so that nothing happens by itself.
 */
import { aggregateTypeOf } from "../../actors/aggregates.ts";
import { Kernel } from "../../actors/kernel/kernel.ts";
import type { AddressedMessage } from "../../queues/envelope.ts";
import { ensureBootstrap } from "../../src/app/upkeep/bootstrap.ts";
import type { AppContext } from "../../src/app/context.ts";
import { DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import type { Offer } from "../../src/domain/effects.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import { agentChannel } from "../../src/feed/feed.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { ARTIFACT_RULES } from "./artifact-rules.ts";
import { CACHE_RULES } from "./cache-rules.ts";
import { silentLog } from "./kernel-ports.ts";
import { testVault } from "./secrets.ts";
import { reportRefusedDispatch } from "../../src/gateway/actor-messages.ts";

export const STEPPED_AGENT = asId<AgentId>("agt_A");

const SHARD = 0;
/** Nothing is swept, dropped or watched by the time of day. */
const NEVER_MS = 2 ** 30;

export class SteppedPlane {
  readonly context: AppContext;
  readonly builder: DispatchBuilder;
  readonly offers = new Map<string, Offer>();
  /** What the plane has told the agent and nobody has looked at yet. */
  readonly notices: AgentNotice[] = [];
  #now = Date.UTC(2026, 0, 1);
  #underWay = 0;
  #wakers: (() => void)[] = [];
  readonly #faults: unknown[] = [];
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #kernel: Kernel;

  private constructor(stores: Stores) {
    const { inbox } = stores;
    this.context = {
      // What the creator of a run says to a group is not waited for by anybody else.
      stores: { ...stores, inbox: { ...inbox, insert: (command) => this.#track(inbox.insert(command)) } },
      clock: { now: () => this.#now, monotonic: () => performance.now() },
      log: silentLog,
      shards: 1,
      eventNamespace: "svc",
      secrets: testVault(stores),
      artifactRules: ARTIFACT_RULES,
      cacheRules: CACHE_RULES,
      signingKey: new Uint8Array(32),
      mailboxes: {
        send: (letter) => Promise.resolve(this.#deliver(letter)),
        // Timers are found in the store when the clock is put forward.
        sendAt: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      board: {
        offer: (offer) => Promise.resolve(void this.offers.set(offer.jobId, offer)),
        withdraw: (jobId) => Promise.resolve(void this.offers.delete(jobId)),
        take: () => Promise.resolve([]),
        onOffered: () => Promise.resolve(() => Promise.resolve()),
        size: () => Promise.resolve(this.offers.size),
        occupy: () => Promise.resolve(),
        vacate: () => Promise.resolve(),
        quotaUse: () => Promise.resolve([]),
        find: () => Promise.resolve([]),
      },
      presence: {
        beat: () => Promise.resolve(),
        leave: () => Promise.resolve(),
        read: () => Promise.resolve(new Map()),
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        lost: () => Promise.resolve([]),
      },
      feed: {
        publish: (channel, payload) => Promise.resolve(this.#publish(channel, payload)),
        subscribe: (channel, listener) => Promise.resolve(this.#subscribe(channel, listener)),
        close: () => Promise.resolve(),
      },
    };
    this.builder = new DispatchBuilder({
      stores,
      secrets: this.context.secrets,
      onRefused: (order, reason) => reportRefusedDispatch(this.context, order, reason),
    });
    this.#kernel = new Kernel({
      ...this.context,
      typeOf: aggregateTypeOf,
      timing: { sweepMs: NEVER_MS, passivateMs: NEVER_MS, watchMs: NEVER_MS, queueCheckMs: NEVER_MS },
    });
  }

  /** On stores that are empty; whoever opened them closes them. */
  static async open(stores: Stores): Promise<SteppedPlane> {
    const plane = new SteppedPlane(stores);
    await ensureBootstrap(plane.context);
    await plane.#kernel.open(SHARD);
    plane.#subscribe(agentChannel(STEPPED_AGENT), (notice) => plane.notices.push(notice as AgentNotice));
    return plane;
  }

  stop(): Promise<void> {
    return this.#kernel.stop();
  }

  get now(): number {
    return this.#now;
  }

  /** Resolves when all that was said is decided and performed. Rejects when something of it failed. */
  async settled(): Promise<void> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#wakers.push(resolve));
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  /** Puts the clock to the time for which the next timer is set, and lets all fire that are due then; false when there is none. */
  async passToNextTimer(): Promise<boolean> {
    const { aggregates } = this.context.stores;
    const [next] = await aggregates.pageDue(SHARD, Number.MAX_SAFE_INTEGER, null, 1);
    if (next === undefined) return false;
    await this.pass(next.nextDueAt - this.#now);
    return true;
  }

  /** Puts the clock forward. */
  async pass(ms: number): Promise<void> {
    this.#now += Math.max(0, ms);
    for (const { rootId } of await this.context.stores.aggregates.pageDue(SHARD, this.#now, null, 1_000)) {
      this.#deliver({ rootId, to: null, message: null });
    }
    await this.settled();
  }

  #deliver(letter: AddressedMessage): void {
    this.#track(this.#kernel.receive(SHARD, [letter])).catch((error: unknown) => this.#faults.push(error));
  }

  /** Counts as under way until those who waited for it have gone on. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await work;
    } finally {
      setImmediate(() => this.#oneLess());
    }
  }

  #oneLess(): void {
    if (--this.#underWay > 0) return;
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  #publish(channel: string, payload: unknown): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }

  #subscribe(channel: string, listener: (payload: unknown) => void): () => Promise<void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => Promise.resolve(void listeners.delete(listener));
  }
}
