/**
 * A node that does nothing until the test steps it: the real use cases, kernel and stores, with a clock that the test
 * sets forward. The parts between nodes (mailboxes, board, feed) are in memory, so that nothing happens on its own.
 */
import { schedulePort } from "../../src/app/schedules/schedule-port.ts";
import { aggregateTypeOf } from "../../actors/aggregates.ts";
import { Kernel } from "../../actors/kernel/kernel.ts";
import type { AddressedMessage } from "../../queues/envelope.ts";
import { firstStart } from "./first-start.ts";
import type { AppContext } from "../../src/app/context.ts";
import { DispatchBuilder } from "../../src/gateway/dispatch-builder.ts";
import { SecretHandout } from "../../src/gateway/secret-handout.ts";
import { LogLimits } from "../../src/gateway/log-limits.ts";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import type { Offer } from "../../src/domain/effects.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import { agentChannel } from "../../src/feed/feed.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { ARTIFACT_RULES } from "./artifact-rules.ts";
import { CACHE_RULES } from "./cache-rules.ts";
import { UPLOAD_RULES } from "./upload-rules.ts";
import { LOG_LIMIT } from "./log-limit.ts";
import { silentLog } from "./kernel-ports.ts";
import { testVault } from "./secrets.ts";
import { reportRefusedDispatch } from "../../src/gateway/actor-messages.ts";

export const STEPPED_NODE_AGENT = asId<AgentId>("agt_A");

const SHARD = 0;
/** The kernel never sweeps, passivates or watches on its own: the test triggers each such step. */
const NEVER_MS = 2 ** 30;

export class SteppedNode {
  readonly context: AppContext;
  readonly builder: DispatchBuilder;
  readonly offers = new Map<string, Offer>();
  /** Notices that the node has sent to the agent and that the test has not read yet. */
  readonly notices: AgentNotice[] = [];
  #now = Date.UTC(2026, 0, 1);
  #pendingCalls = 0;
  #wakers: (() => void)[] = [];
  readonly #faults: unknown[] = [];
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #kernel: Kernel;

  private constructor(stores: Stores) {
    const { inbox } = stores;
    this.context = {
      // The creator of a run sends commands to groups without waiting for them; `settled` waits for them here.
      stores: { ...stores, inbox: { ...inbox, insert: (command) => this.#track(inbox.insert(command)) } },
      clock: { now: () => this.#now, monotonic: () => performance.now() },
      log: silentLog,
      shards: 1,
      eventNamespace: "svc",
      secrets: testVault(stores),
      artifactRules: ARTIFACT_RULES,
      cacheRules: CACHE_RULES,
      uploadRules: UPLOAD_RULES,
      logLimit: LOG_LIMIT,
      signingKey: new Uint8Array(32),
      mailboxes: {
        send: (message) => Promise.resolve(this.#deliver(message)),
        // `pass` finds due timers in the store when it sets the clock forward.
        sendAt: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      board: {
        offer: (offer) => Promise.resolve(void this.offers.set(offer.jobId, offer)),
        withdraw: (jobId) => Promise.resolve(void this.offers.delete(jobId)),
        take: () => Promise.resolve([]),
        reserve: () => Promise.resolve(undefined),
        hide: () => Promise.resolve(),
        attend: () => Promise.resolve({ lasts: true, offers: 0, ended: [] }),
        onOffered: () => Promise.resolve(() => Promise.resolve()),
        size: () => Promise.resolve(this.offers.size),
        occupy: () => Promise.resolve(),
        vacate: () => Promise.resolve(),
        quotaUse: () => Promise.resolve([]),
        tenantsOf: () => Promise.resolve(new Map()),
        find: () => Promise.resolve([]),
      },
      presence: {
        beat: () => Promise.resolve(),
        renew: () => Promise.resolve(true),
        leave: () => Promise.resolve(),
        read: () => Promise.resolve(new Map()),
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        lost: () => Promise.resolve([]),
      },
      feed: {
        publish: (channel, payload) => Promise.resolve(this.#publish(channel, payload)),
        subscribe: (channel, listener) => Promise.resolve(this.#subscribe(channel, listener)),
        follow: () => Promise.resolve(() => Promise.resolve()),
        isFollowed: () => false,
        close: () => Promise.resolve(),
      },
    };
    this.builder = new DispatchBuilder({
      stores,
      secrets: this.context.secrets,
      logLimits: new LogLimits(this.context),
      handout: new SecretHandout(this.context),
      onRefused: (step, reason) => reportRefusedDispatch(this.context, step, reason),
    });
    this.#kernel = new Kernel({
      ...this.context,
      typeOf: aggregateTypeOf,
      schedules: schedulePort(this.context),
      timing: { sweepMs: NEVER_MS, passivateMs: NEVER_MS, watchMs: NEVER_MS, queueCheckMs: NEVER_MS },
    });
  }

  /** Opens a node on empty stores. The caller closes the stores. */
  static async open(stores: Stores): Promise<SteppedNode> {
    const node = new SteppedNode(stores);
    await firstStart(node.context);
    await node.#kernel.open(SHARD, 0);
    node.#subscribe(agentChannel(STEPPED_NODE_AGENT), (notice) => node.notices.push(notice as AgentNotice));
    return node;
  }

  stop(): Promise<void> {
    return this.#kernel.stop();
  }

  get now(): number {
    return this.#now;
  }

  /** Resolves when every message is decided and every effect is performed. Rejects with the first failure. */
  async settled(): Promise<void> {
    while (this.#pendingCalls > 0) await new Promise<void>((resolve) => this.#wakers.push(resolve));
    if (this.#faults.length > 0) throw this.#faults[0];
  }

  /**
   * Sets the clock to the time of the next timer and fires all timers that are due then. Answers false when no timer is
   * set.
   */
  async passToNextTimer(): Promise<boolean> {
    const { aggregates } = this.context.stores;
    const [next] = await aggregates.pageDue(SHARD, Number.MAX_SAFE_INTEGER, null, 1);
    if (next === undefined) return false;
    await this.pass(next.nextDueAt - this.#now);
    return true;
  }

  /** Sets the clock forward and fires the timers that are due then. */
  async pass(ms: number): Promise<void> {
    this.#now += Math.max(0, ms);
    for (const { rootId } of await this.context.stores.aggregates.pageDue(SHARD, this.#now, null, 1_000)) {
      this.#deliver({ rootId, to: null, message: null });
    }
    await this.settled();
  }

  #deliver(message: AddressedMessage): void {
    this.#track(this.#kernel.receive(SHARD, [message])).catch((error: unknown) => this.#faults.push(error));
  }

  /** Counts `work` as pending until the callers that waited for it have run. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#pendingCalls++;
    try {
      return await work;
    } finally {
      setImmediate(() => this.#countDown());
    }
  }

  #countDown(): void {
    if (--this.#pendingCalls > 0) return;
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
