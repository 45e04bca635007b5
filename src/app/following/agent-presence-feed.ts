/**
 * The agents as this process sees them, one look a second for all who follow: who is there, and since which revision.
 * Whoever was away is told of what has changed since, without what came and went in between.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { PresenceRecord } from "../../board/board.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import type { Labels } from "../../domain/labels.ts";
import type { Agent } from "../../stores/ports/identity.ts";
import type { FollowingContext } from "./context.ts";
import { ONLINE_MS } from "../agents/inventory.ts";
import { Signal } from "../signal.ts";

const LOOK_MS = 1_000;
/** The registered agents change more rarely than what they do. */
const LIST_MS = 2_000;
/** After presence could not be read: by then every agent that lives has been heard again. */
const SETTLE_MS = 10_000;
/** Of agents that are registered no more. */
const KEPT_REMOVALS = 1_000;

export type AgentPresence = "online" | "offline" | "draining" | "lost" | "removed";

export interface AgentStatus {
  readonly agentId: AgentId;
  readonly name: string;
  readonly presence: AgentPresence;
  readonly labels: Labels;
  readonly slots: number;
  readonly busy: number;
}

export interface AgentChange extends AgentStatus {
  /** Grows with each change of any agent. */
  readonly number: number;
  /** When it was seen, Unix milliseconds. */
  readonly timeMs: number;
}

export class AgentPresenceFeed {
  readonly #context: FollowingContext;
  /** Numbers mean nothing to another process. */
  readonly #epoch = randomUUID().slice(0, 8);
  /** The newest of each agent, in the order of their numbers. */
  readonly #changes = new Map<AgentId, AgentChange>();
  readonly #followers = new Set<Signal>();
  #number = 0;
  /** What was removed up to this number is forgotten. */
  #forgotten = 0;
  #registered: ReadonlyMap<AgentId, Agent> = new Map();
  #listAt = Number.NEGATIVE_INFINITY;
  /** Until then silence means nothing, by the monotonic clock. */
  #settlesAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isWatching = false;

  constructor(context: FollowingContext) {
    this.#context = context;
  }

  /** Calls `changed` when there may be news, until `leave`. Rejects with `unavailable` when the agents cannot be seen now. */
  async join(changed: Signal): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#context.log.debug({ error: String(error) }, "the agents cannot be seen");
      throw new MillraceError("unavailable", "the agents cannot be seen now: try again", { cause: error });
    }
    this.#followers.add(changed);
    if (!this.#isWatching) void this.#watch();
  }

  leave(changed: Signal): void {
    this.#followers.delete(changed);
  }

  /** True for one that is registered, and for one that was. */
  knows(agentId: AgentId): boolean {
    return this.#changes.has(agentId);
  }

  /** What changed after that number, one change for each agent, in order. */
  since(number: number): readonly AgentChange[] {
    return [...this.#changes.values()].filter((change) => change.number > number);
  }

  revisionOf(number: number): string {
    return `${this.#epoch}.${number}`;
  }

  /** The number of a revision; undefined for one after which not everything is known. */
  numberOf(revision: string): number | undefined {
    const [, epoch, digits] = /^(\w+)\.(\d{1,15})$/.exec(revision) ?? [];
    const number = Number(digits);
    return epoch === this.#epoch && number >= this.#forgotten && number <= this.#number ? number : undefined;
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#followers.size > 0) {
      await this.#look().catch((error: unknown) => {
        this.#context.log.debug({ error: String(error) }, "the agents cannot be seen: they count as they were");
      });
      await sleep(LOOK_MS, undefined, { ref: false });
    }
    this.#isWatching = false;
  }

  /** One look at a time serves all. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .catch((error: unknown) => {
        this.#settlesAt = this.#context.clock.monotonic() + SETTLE_MS;
        throw error;
      })
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { presence, stores, clock } = this.#context;
    const [online, lost] = await Promise.all([presence.online(ONLINE_MS), presence.lost()]);
    const isStrange = online.some(({ agentId }) => !this.#registered.has(agentId));
    if (isStrange || clock.monotonic() >= this.#listAt) {
      const agents = await stores.identity.listAgents();
      this.#registered = new Map(agents.map((agent) => [agent.agentId, agent]));
      this.#listAt = clock.monotonic() + LIST_MS;
    }
    const records = new Map(online.map((record) => [record.agentId, record]));
    const lostOnes = new Set(lost);
    const isUnsettled = clock.monotonic() < this.#settlesAt;
    for (const agent of this.#registered.values()) {
      const record = records.get(agent.agentId);
      const before = this.#changes.get(agent.agentId);
      if (record === undefined && isUnsettled && before !== undefined && before.presence !== "removed") continue;
      this.#see(statusOf(agent, record, lostOnes.has(agent.agentId)));
    }
    for (const gone of this.#changes.values()) {
      if (!this.#registered.has(gone.agentId)) this.#see({ ...gone, presence: "removed", busy: 0 });
    }
    this.#forgetRemovals();
  }

  #see(status: AgentStatus): void {
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
  const { labels, slots } = record ?? agent;
  return { agentId, name, presence: presenceOf(record, isLost), labels, slots, busy: record?.busy ?? 0 };
}

function presenceOf(record: PresenceRecord | undefined, isLost: boolean): AgentPresence {
  if (isLost) return "lost";
  if (record === undefined) return "offline";
  return record.draining === true ? "draining" : "online";
}

function isSame(before: AgentStatus, after: AgentStatus): boolean {
  const { name, presence, slots, busy, labels } = after;
  const isEqual =
    before.name === name && before.presence === presence && before.slots === slots && before.busy === busy;
  return isEqual && isDeepStrictEqual(before.labels, labels);
}
