/**
 * Frees places in concurrency groups whose members have ended or do not exist. A member leaves its group by itself when
 * it ends. The reconciler finds the others: a restored backup brought the place back, the run was removed, or a trigger
 * took the place and never stored its run.
 */
import type { GroupState, Seat } from "../../../actors/group/state.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { memberOf } from "../../domain/groups.ts";
import { commandIdOf, type GroupId } from "../../domain/ids.ts";
import { Passes } from "../../domain/work/passes.ts";
import { storeCommand } from "../commands/commands.ts";
import type { UpkeepContext } from "./context.ts";

/** Between two passes over the same shard. */
const INTERVAL_MS = 30_000;
/** Between two checks which shards are due. */
const TICK_MS = 1_000;
/** A place whose run is not stored is kept for this time, since a trigger takes the place before it stores the run. */
const RESERVATION_MS = 60_000;
/** Groups of one read. */
const PAGE_SIZE = 100;

export class GroupReconciler {
  readonly #context: UpkeepContext;
  readonly #owned: () => readonly number[];
  /**
   * When each owned shard was reconciled last, by the monotonic clock; a new shard is reconciled with the next tick.
   */
  #reconciledAt = new Map<number, number>();
  readonly #passes: Passes;

  constructor(context: UpkeepContext, owned: () => readonly number[]) {
    this.#context = context;
    this.#owned = owned;
    const { clock, log } = context;
    const onFailure = (error: unknown): void =>
      log.warn({ error: String(error) }, "the members of groups could not be compared; trying again in 30 s");
    this.#passes = new Passes({ clock, periodMs: () => TICK_MS, pass: () => this.#reconcileDueShards(), onFailure });
  }

  start(): void {
    this.#passes.start();
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #reconcileDueShards(): Promise<void> {
    const { clock } = this.#context;
    const owned = this.#owned();
    const now = clock.monotonic();
    const isDue = (shard: number): boolean => now - (this.#reconciledAt.get(shard) ?? -Infinity) >= INTERVAL_MS;
    const due = owned.filter(isDue);
    // Each second without a due shard, the times of all shards stay as they are.
    if (due.length === 0 && owned.length === this.#reconciledAt.size) return;
    // A shard that is given up and taken again is due at once.
    this.#reconciledAt = new Map(owned.map((shard) => [shard, isDue(shard) ? now : this.#reconciledAt.get(shard)!]));
    if (due.length > 0) await reconcileGroups(this.#context, due);
  }
}

/**
 * Sends a `leave` command for every place of these shards' groups whose member has ended or does not exist. Rejects when
 * the store cannot be read.
 */
export async function reconcileGroups(context: UpkeepContext, shards: readonly number[]): Promise<void> {
  const { aggregates } = context.stores;
  for (let after: GroupId | "" = ""; ;) {
    const page: readonly GroupId[] = await aggregates.pageLiveGroups(shards, after, PAGE_SIZE);
    for (const groupId of page) await reconcileGroup(context, groupId);
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)!;
  }
}

async function reconcileGroup(context: UpkeepContext, groupId: GroupId): Promise<void> {
  const group = (await context.stores.aggregates.load(groupId))?.actors[0]?.state as GroupState | undefined;
  for (const seat of group?.seats ?? []) {
    if (!seat.held || !(await hasEnded(context, seat))) continue;
    context.log.warn({ groupId, member: seat.key }, "a member of a group has ended without leaving: it leaves now");
    const body = { kind: "leave", member: memberOf(seat.key) } as const;
    // The id names this seat, so a seat that the member took again after an earlier `leave` is freed, too.
    const id = commandIdOf("leave", groupId, seat.key, String(seat.enteredAt));
    await storeCommand(context, { id, rootId: groupId, body });
  }
}

async function hasEnded({ stores, clock }: UpkeepContext, { key, enteredAt }: Seat): Promise<boolean> {
  const { runId, job, cell } = memberOf(key);
  const aggregate = await stores.aggregates.load(runId);
  if (aggregate === undefined) return clock.now() - enteredAt > RESERVATION_MS;
  if (aggregate.head.final || job === null) return aggregate.head.final;
  const attempts = aggregate.actors.filter(({ kind }) => kind === "job").map(({ state }) => state as JobState);
  return attempts.every((attempt) => attempt.index !== job || attempt.cell !== cell || attempt.place === null);
}
