/** Membership of nodes, leases of shards and generations, as the scripts of queues/scripts.ts keep them in Redis. */

export class Leases {
  readonly #now: () => number;
  readonly #leases = new Map<number, { readonly holder: string; until: number }>();
  readonly #generations = new Map<number, string>();
  readonly #members = new Map<string, number>();
  #witness: string | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The live members. */
  beat(nodeId: string, ttlMs: number): readonly string[] {
    this.#members.set(nodeId, this.#now());
    for (const [member, at] of this.#members) if (at <= this.#now() - ttlMs) this.#members.delete(member);
    return [...this.#members.keys()];
  }

  leave(nodeId: string): void {
    this.#members.delete(nodeId);
  }

  /** True when the lease was free. */
  take(shard: number, holder: string, ttlMs: number): boolean {
    if (this.#holderOf(shard) !== undefined) return false;
    this.#leases.set(shard, { holder, until: this.#now() + ttlMs });
    return true;
  }

  renew(shard: number, holder: string, ttlMs: number): { readonly held: boolean; readonly generation: string } {
    const held = this.#holderOf(shard) === holder;
    if (held) this.#leases.get(shard)!.until = this.#now() + ttlMs;
    return { held, generation: this.generation(shard) };
  }

  release(shard: number, holder: string): void {
    if (this.#holderOf(shard) === holder) this.#leases.delete(shard);
  }

  generation(shard: number): string {
    return this.#generations.get(shard) ?? "";
  }

  setGeneration(shard: number, generation: string): void {
    this.#generations.set(shard, generation);
  }

  /** The witness, which is `created` when there was none. */
  witness(created: string): string {
    this.#witness ??= created;
    return this.#witness;
  }

  empty(): void {
    this.#leases.clear();
    this.#generations.clear();
    this.#members.clear();
    this.#witness = undefined;
  }

  #holderOf(shard: number): string | undefined {
    const lease = this.#leases.get(shard);
    return lease === undefined || lease.until <= this.#now() ? undefined : lease.holder;
  }
}
