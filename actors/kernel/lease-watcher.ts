/**
 * Watches the agents that hold work of owned shards, says which are lost, and keeps the work's places in quotas.
 *
 * An agent is alive while its beat changes. Silence is counted only over time in which presence could be read without
 * a break: an outage of Redis, or of this process, never looks like the loss of all agents.
 */
import { type Cancel, type Clock, type Timers, untilNext } from "../../src/domain/clock.ts";
import { type AgentId, asId, type JobRunId, type RootId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { type Board, PLACE_MS, type Presence } from "../../src/board/board.ts";
import type { Holder } from "./actor-kind.ts";

interface Watched {
  readonly shard: number;
  /** The aggregate of the actor. */
  readonly rootId: RootId;
  readonly holder: Holder;
  readonly onLost: () => void;
}

/** How long one boot of an agent has been silent. */
interface Silence {
  /** The beat that was read last. */
  beat: string | undefined;
  silentMs: number;
  /** True when the loss has been declared in presence, or is being declared. */
  declared: boolean;
}

export interface LeaseWatcherOptions {
  readonly presence: Pick<Presence, "read" | "declareLost">;
  readonly board: Pick<Board, "occupy">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Between two checks, milliseconds. */
  readonly watchMs: number;
  /** Added to a lease, milliseconds. */
  readonly lossMarginMs: number;
}

/** A pause between two checks of more than this many intervals is a break. */
const BREAK_INTERVALS = 3;
/** Between two renewals of the places in quotas, milliseconds. */
const KEEP_MS = PLACE_MS / 3;

export class LeaseWatcher {
  readonly #options: LeaseWatcherOptions;
  /** By the id of the actor whose work the agent holds. */
  readonly #watched = new Map<string, Watched>();
  /** By agent and boot. */
  readonly #silences = new Map<string, Silence>();
  /** Monotonic milliseconds of the last check that could read presence; null after a break. */
  #lastCheckAt: number | null = null;
  /** When the places in quotas were last renewed, monotonic milliseconds. */
  #keptAt = -Infinity;
  /** Cancels the next check; undefined while no checks are made. */
  #cancelCheck: Cancel | undefined;

  constructor(options: LeaseWatcherOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, timers, watchMs } = this.#options;
    const next = () => timers.after(untilNext(watchMs, clock.monotonic()), () => void check());
    const check = async (): Promise<void> => {
      await this.#keepPlaces();
      await this.check();
      if (this.#cancelCheck !== undefined) this.#cancelCheck = next();
    };
    this.#cancelCheck = next();
  }

  stop(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }

  /**
   * Watches the agent that holds an actor's work until `unwatch`. Each check calls `onLost` while the agent is lost.
   */
  watch(actorId: string, watched: Watched): void {
    this.#watched.set(actorId, watched);
  }

  unwatch(actorId: string): void {
    this.#watched.delete(actorId);
  }

  /** What is watched in a shard: the aggregates by the ids of their actors. */
  watchedIn(shard: number): Map<string, RootId> {
    const inShard = [...this.#watched].filter(([, watched]) => watched.shard === shard);
    return new Map(inShard.map(([actorId, { rootId }]) => [actorId, rootId]));
  }

  unwatchShard(shard: number): void {
    for (const [id, watched] of this.#watched) if (watched.shard === shard) this.#watched.delete(id);
  }

  async #keepPlaces(): Promise<void> {
    const { board, clock, log } = this.#options;
    const places = [...this.#watched].flatMap(([id, { holder }]) =>
      holder.quotas.length === 0 ? [] : [{ jobId: asId<JobRunId>(id), quotas: holder.quotas }],
    );
    if (places.length === 0 || clock.monotonic() - this.#keptAt < KEEP_MS) return;
    try {
      await board.occupy(places);
      this.#keptAt = clock.monotonic();
    } catch (error) {
      log.debug({ error: String(error) }, "places in quotas could not be renewed; the next check tries again");
    }
  }

  async #declareLost({ agentId, bootId }: Holder, silence: Silence): Promise<void> {
    silence.declared = true;
    try {
      await this.#options.presence.declareLost(agentId, bootId);
    } catch (error) {
      silence.declared = false;
      this.#options.log.debug({ agentId, error: String(error) }, "an agent could not be marked as lost; trying again");
    }
  }

  /** Reads presence once. Never rejects: when presence cannot be read, that is a break and no agent is lost. */
  async check(): Promise<void> {
    const { presence, clock, log, watchMs, lossMarginMs } = this.#options;
    const agents = new Set<AgentId>([...this.#watched.values()].map(({ holder }) => holder.agentId));
    if (agents.size === 0) {
      this.#silences.clear();
      this.#lastCheckAt = null;
      return;
    }
    let records: Awaited<ReturnType<Presence["read"]>>;
    try {
      records = await presence.read([...agents]);
    } catch (error) {
      if (this.#lastCheckAt !== null)
        log.warn({ error: String(error) }, "presence cannot be read: no agent is declared lost");
      this.#lastCheckAt = null;
      return;
    }
    const now = clock.monotonic();
    const sinceLast = this.#lastCheckAt === null ? Infinity : now - this.#lastCheckAt;
    const counted = sinceLast <= watchMs * BREAK_INTERVALS ? sinceLast : 0;
    this.#lastCheckAt = now;

    const seen = new Set<string>();
    for (const { holder, onLost } of this.#watched.values()) {
      const key = `${holder.agentId}/${holder.bootId}`;
      const record = records.get(holder.agentId);
      // The beat of another boot does not show that this boot lives.
      const beat = record?.bootId === holder.bootId ? record.beat : undefined;
      const silence = this.#silences.get(key) ?? { beat, silentMs: 0, declared: false };
      if (!seen.has(key)) {
        if (beat !== undefined && beat !== silence.beat) Object.assign(silence, { silentMs: 0, declared: false });
        else silence.silentMs += this.#silences.has(key) ? counted : 0;
        silence.beat = beat;
        this.#silences.set(key, silence);
        seen.add(key);
      }
      if (silence.silentMs < holder.leaseMs + lossMarginMs) continue;
      onLost();
      if (!silence.declared) void this.#declareLost(holder, silence);
    }
    for (const key of this.#silences.keys()) if (!seen.has(key)) this.#silences.delete(key);
  }
}
