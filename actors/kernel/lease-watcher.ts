/**
 * Watches the agents that hold work of owned shards, says which are lost, and keeps the work's places in quotas.
 *
 * An agent is alive while its beat changes. Silence is counted only over time in which presence could be read without
 * a break: an outage of Redis, or of this process, never looks like the loss of all agents.
 */
import type { Clock } from "../../src/domain/clock.ts";
import { type AgentId, asId, type JobRunId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { type Board, PLACE_MS, type Presence } from "../../src/board/board.ts";
import type { Holder } from "./actor-kind.ts";

interface Watched {
  readonly shard: number;
  readonly holder: Holder;
  readonly onLost: () => void;
}

interface Silence {
  beat: string | undefined;
  silentMs: number;
  /** It is noted that the agent is lost, or that is under way. */
  declared: boolean;
}

export interface LeaseWatcherOptions {
  readonly presence: Pick<Presence, "read" | "declareLost">;
  readonly board: Pick<Board, "occupy">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between two looks, milliseconds. */
  readonly watchMs: number;
  /** Added to a lease, milliseconds. */
  readonly lossMarginMs: number;
}

/** A pause between two looks of more than this many intervals is a break. */
const BREAK_INTERVALS = 3;
/** Between two times at which places are kept, milliseconds. */
const KEEP_MS = PLACE_MS / 3;

export class LeaseWatcher {
  readonly #options: LeaseWatcherOptions;
  readonly #watched = new Map<string, Watched>();
  /** By agent and boot. */
  readonly #silences = new Map<string, Silence>();
  #lastLookAt: number | null = null;
  /** When places were last kept, by the monotonic clock. */
  #keptAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LeaseWatcherOptions) {
    this.#options = options;
  }

  start(): void {
    const look = async (): Promise<void> => {
      await this.#keepPlaces();
      await this.look();
      if (this.#timer !== undefined) this.#timer = setTimeout(() => void look(), this.#options.watchMs);
    };
    this.#timer = setTimeout(() => void look(), this.#options.watchMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Watches the holder of an actor's work until `unwatch`; `onLost` is called with each look while it is lost. */
  watch(actorId: string, watched: Watched): void {
    this.#watched.set(actorId, watched);
  }

  unwatch(actorId: string): void {
    this.#watched.delete(actorId);
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
      log.debug({ error: String(error) }, "places in quotas could not be kept; the next look tries again");
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

  /** One look at presence. Never rejects: an unreadable presence is a break, not a loss. */
  async look(): Promise<void> {
    const { presence, clock, log, watchMs, lossMarginMs } = this.#options;
    const agents = new Set<AgentId>([...this.#watched.values()].map(({ holder }) => holder.agentId));
    if (agents.size === 0) {
      this.#silences.clear();
      this.#lastLookAt = null;
      return;
    }
    let records: Awaited<ReturnType<Presence["read"]>>;
    try {
      records = await presence.read([...agents]);
    } catch (error) {
      if (this.#lastLookAt !== null)
        log.warn({ error: String(error) }, "presence cannot be read: no agent is declared lost");
      this.#lastLookAt = null;
      return;
    }
    const now = clock.monotonic();
    const sinceLast = this.#lastLookAt === null ? Infinity : now - this.#lastLookAt;
    const counted = sinceLast <= watchMs * BREAK_INTERVALS ? sinceLast : 0;
    this.#lastLookAt = now;

    const seen = new Set<string>();
    for (const { holder, onLost } of this.#watched.values()) {
      const key = `${holder.agentId}/${holder.bootId}`;
      const record = records.get(holder.agentId);
      // Another boot's beat is no sign of life of this one.
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
