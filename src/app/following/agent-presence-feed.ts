/**
 * The agents as this process sees them: it reads presence once a second for all followers and numbers each change. A
 * follower that resumes at a number gets the newest change of each agent since then, and not the changes in between.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { PresenceRecord } from "../../board/board.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { labelledAgent, type Labels, type AgentReach } from "../../domain/labels.ts";
import type { Agent } from "../../stores/ports/identity.ts";
import type { FollowingContext } from "./context.ts";
import { ONLINE_MS } from "../agents/inventory.ts";
import { Signal } from "../signal.ts";

/** Between two reads of presence. */
const READ_MS = 1_000;
/** Between two reads of the registered agents, which change less often than their presence. */
const LIST_MS = 2_000;
/**
 * After presence could not be read, an agent without presence counts as offline only after this time: by then each live
 * agent was heard.
 */
const SETTLE_MS = 10_000;
/** Removed agents that the feed remembers. */
const KEPT_REMOVALS = 1_000;

export type AgentPresence = "online" | "offline" | "draining" | "lost" | "removed";

export interface AgentStatus {
  readonly agentId: AgentId;
  readonly name: string;
  readonly presence: AgentPresence;
  readonly labels: Labels;
  /** Keys of the labels that an operator has given. */
  readonly trusted: readonly string[];
  readonly slots: number;
  readonly busy: number;
  /** Which jobs the agent may get; null for an agent of the installation. */
  readonly reach: AgentReach | null;
}

export interface AgentChange extends AgentStatus {
  /** Number of the change; grows with each change of any agent. */
  readonly number: number;
  /** When this process saw the change, Unix milliseconds. */
  readonly timeMs: number;
}

/** The changes of all agents, numbered in this process. */
export class AgentPresenceFeed {
  readonly #context: FollowingContext;
  /** Part of each revision, since the numbers of one process mean nothing to another. */
  readonly #epoch = randomUUID().slice(0, 8);
  /** The newest change of each agent, in the order of the numbers. */
  readonly #changes = new Map<AgentId, AgentChange>();
  readonly #followers = new Set<Signal>();
  #number = 0;
  /** Removals up to this number are forgotten. */
  #forgotten = 0;
  #registered: ReadonlyMap<AgentId, Agent> = new Map();
  #listDueAt = Number.NEGATIVE_INFINITY;
  /** Until then a missing presence record does not mean that an agent is offline. By the monotonic clock. */
  #settlesAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #isWatching = false;

  constructor(context: FollowingContext) {
    this.#context = context;
  }

  /**
   * Raises `changed` when there may be changes, until {@link leave}. Rejects with `unavailable` when presence or the
   * store cannot be read now.
   */
  async join(changed: Signal): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#context.log.debug({ error: String(error) }, "the agents cannot be read");
      throw new MillraceError("unavailable", "the agents cannot be read now: try again", { cause: error });
    }
    this.#followers.add(changed);
    if (!this.#isWatching) void this.#watch();
  }

  leave(changed: Signal): void {
    this.#followers.delete(changed);
  }

  /** The newest status of a registered agent, and of a removed agent that the feed remembers. */
  find(agentId: AgentId): AgentStatus | undefined {
    return this.#changes.get(agentId);
  }

  /** Changes after that number, at most one for each agent, in the order of their numbers. */
  since(number: number): readonly AgentChange[] {
    return [...this.#changes.values()].filter((change) => change.number > number);
  }

  revisionOf(number: number): string {
    return `${this.#epoch}.${number}`;
  }

  /**
   * The number of a revision. Undefined for a revision of another process, and for one so old that removals since were
   * forgotten.
   */
  numberOf(revision: string): number | undefined {
    const [, epoch, digits] = /^(\w+)\.(\d{1,15})$/.exec(revision) ?? [];
    const number = Number(digits);
    return epoch === this.#epoch && number >= this.#forgotten && number <= this.#number ? number : undefined;
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#followers.size > 0) {
      await this.#read().catch((error: unknown) => {
        this.#context.log.debug({ error: String(error) }, "the agents cannot be read: their last known presence stays");
      });
      await sleep(READ_MS, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  /** Reads once for all callers that wait at the same time. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce()
      .catch((error: unknown) => {
        this.#settlesAt = this.#context.clock.monotonic() + SETTLE_MS;
        throw error;
      })
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { presence, stores, clock } = this.#context;
    const [online, lost] = await Promise.all([presence.online(ONLINE_MS), presence.lost()]);
    const hasUnknownAgent = online.some(({ agentId }) => !this.#registered.has(agentId));
    if (hasUnknownAgent || clock.monotonic() >= this.#listDueAt) {
      const agents = await stores.identity.listAgents();
      this.#registered = new Map(agents.map((agent) => [agent.agentId, agent]));
      this.#listDueAt = clock.monotonic() + LIST_MS;
    }
    const records = new Map(online.map((record) => [record.agentId, record]));
    const lostIds = new Set(lost);
    const isUnsettled = clock.monotonic() < this.#settlesAt;
    for (const agent of this.#registered.values()) {
      const record = records.get(agent.agentId);
      const before = this.#changes.get(agent.agentId);
      if (record === undefined && isUnsettled && before !== undefined && before.presence !== "removed") continue;
      this.#record(statusOf(agent, record, lostIds.has(agent.agentId)));
    }
    for (const known of this.#changes.values()) {
      if (!this.#registered.has(known.agentId)) this.#record({ ...known, presence: "removed", busy: 0 });
    }
    this.#forgetRemovals();
  }

  #record(status: AgentStatus): void {
    const before = this.#changes.get(status.agentId);
    if (before !== undefined && isSame(before, status)) return;
    this.#changes.delete(status.agentId);
    this.#changes.set(status.agentId, { ...status, number: ++this.#number, timeMs: this.#context.clock.now() });
    for (const changed of this.#followers) changed.raise();
  }

  #forgetRemovals(): void {
    const removals = [...this.#changes.values()].filter(({ presence }) => presence === "removed");
    for (const { agentId, number } of removals.slice(0, -KEPT_REMOVALS)) {
      this.#changes.delete(agentId);
      this.#forgotten = number;
    }
  }
}

function statusOf(agent: Agent, record: PresenceRecord | undefined, isLost: boolean): AgentStatus {
  const { agentId, name } = agent;
  const { labels, trusted = [] } = record ?? labelledAgent(agent);
  const { slots } = record ?? agent;
  const { reach = null } = agent;
  const presence = presenceOf(record, isLost);
  return { agentId, name, presence, labels, trusted, slots, busy: record?.busy ?? 0, reach };
}

function presenceOf(record: PresenceRecord | undefined, isLost: boolean): AgentPresence {
  if (isLost) return "lost";
  if (record === undefined) return "offline";
  return record.draining === true ? "draining" : "online";
}

function isSame(before: AgentStatus, after: AgentStatus): boolean {
  const { name, presence, slots, busy, labels, trusted } = after;
  const isEqual =
    before.name === name && before.presence === presence && before.slots === slots && before.busy === busy;
  return isEqual && isDeepStrictEqual([before.labels, before.trusted, before.reach], [labels, trusted, after.reach]);
}
