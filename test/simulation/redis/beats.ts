/** The data of presence in a simulated Redis: what the scripts of src/board/redis-presence.ts do. */
import type { NewestBeat, PresenceRecord } from "../../../src/board/board.ts";
import type { AgentId } from "../../../src/domain/ids.ts";

interface Beat {
  readonly record: PresenceRecord;
  readonly beat: string;
  readonly at: number;
}

const FORGOTTEN_AFTER_MS = 10 * 60_000;
const LOST_FOR_MS = 24 * 3_600_000;

export class Beats {
  readonly #now: () => number;
  readonly #records = new Map<AgentId, Beat>();
  readonly #lost = new Map<AgentId, number>();
  #beats = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  beat(record: PresenceRecord): void {
    this.#records.set(record.agentId, { record, beat: `${++this.#beats}`, at: this.#now() });
    this.#lost.delete(record.agentId);
  }

  renew(record: PresenceRecord): boolean {
    const known = this.#records.get(record.agentId);
    if (known !== undefined && known.record.bootId !== record.bootId) return false;
    this.beat(record);
    return true;
  }

  leave(agentId: AgentId, bootId: string): void {
    if (this.#records.get(agentId)?.record.bootId === bootId) this.#records.delete(agentId);
  }

  read(agentIds: readonly AgentId[]): ReadonlyMap<AgentId, NewestBeat> {
    const found = agentIds.flatMap((agentId) => {
      const beat = this.#records.get(agentId);
      if (beat === undefined) return [];
      const { bootId, gatewayId, pulls = false } = beat.record;
      return [[agentId, { bootId, gatewayId, pulls, beat: beat.beat, at: beat.at }] as const];
    });
    return new Map(found);
  }

  online(maxAgeMs: number): readonly PresenceRecord[] {
    for (const [agentId, { at }] of this.#records) {
      if (at <= this.#now() - FORGOTTEN_AFTER_MS) this.#records.delete(agentId);
    }
    return [...this.#records.values()].flatMap(({ record, at }) => (at > this.#now() - maxAgeMs ? [record] : []));
  }

  declareLost(agentId: AgentId, bootId: string): void {
    const beat = this.#records.get(agentId);
    if (beat === undefined || beat.record.bootId === bootId) this.#lost.set(agentId, this.#now());
  }

  lost(): readonly AgentId[] {
    for (const [agentId, at] of this.#lost) if (at <= this.#now() - LOST_FOR_MS) this.#lost.delete(agentId);
    return [...this.#lost.keys()];
  }

  empty(): void {
    this.#records.clear();
    this.#lost.clear();
  }
}
