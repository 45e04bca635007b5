/**
 * The census of groups: members that are over or gone leave. Every member says so itself when it ends; what is found here
 * has been restored from an older backup, removed, or reserved by a trigger that never came to store its run.
 */
import type { GroupState, Seat } from "../../../actors/group/state.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { memberOf } from "../../domain/groups.ts";
import { commandIdOf, type GroupId } from "../../domain/ids.ts";
import { type CommandPorts, storeCommand } from "../commands/commands.ts";

/** Between two looks at the same shard, milliseconds. */
const INTERVAL_MS = 30_000;
const TICK_MS = 1_000;
/** For how long a run may be missing that has reserved its place. */
const UNBORN_MS = 60_000;
const PAGE = 100;
/** Ids of groups lie between those of other aggregates. */
const BEFORE_GROUPS = "grp_";

export class GroupReconciler {
  readonly #context: CommandPorts;
  readonly #owned: () => readonly number[];
  /** By shard; one that is new is looked at with the next tick. */
  #lookedAt = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(context: CommandPorts, owned: () => readonly number[]) {
    this.#context = context;
    this.#owned = owned;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (this.#timer !== undefined) this.start();
      });
    }, TICK_MS);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#context;
    const owned = this.#owned();
    this.#lookedAt = new Map([...this.#lookedAt].filter(([shard]) => owned.includes(shard)));
    for (const shard of owned) {
      const now = clock.monotonic();
      if (now - (this.#lookedAt.get(shard) ?? -Infinity) < INTERVAL_MS) continue;
      try {
        await takeCensus(this.#context, shard);
      } catch (error) {
        log.warn({ shard, error: String(error) }, "the members of groups could not be compared; the next look follows");
      }
      this.#lookedAt.set(shard, now);
    }
  }
}

/** Lets those leave that hold places in groups of a shard and are over. Rejects when the store cannot be read. */
export async function takeCensus(context: CommandPorts, shard: number): Promise<void> {
  const { aggregates } = context.stores;
  for (let after = BEFORE_GROUPS; ;) {
    const page = await aggregates.pageUnsettled(shard, false, after, PAGE);
    const groups = page.filter((rootId): rootId is GroupId => rootId.startsWith(BEFORE_GROUPS));
    for (const groupId of groups) await lookAt(context, groupId);
    if (groups.length < PAGE) return;
    after = groups.at(-1)!;
  }
}

async function lookAt(context: CommandPorts, groupId: GroupId): Promise<void> {
  const group = (await context.stores.aggregates.load(groupId))?.actors[0]?.state as GroupState | undefined;
  for (const seat of group?.seats ?? []) {
    if (!seat.held || !(await isOver(context, seat))) continue;
    context.log.warn({ groupId, member: seat.key }, "a member of a group is over and has not left: it does now");
    const body = { kind: "leave", member: memberOf(seat.key) } as const;
    // Of this very seat: one that was taken by mistake after the member had left is given back, too.
    const id = commandIdOf("leave", groupId, seat.key, String(seat.enteredAt));
    await storeCommand(context, { id, rootId: groupId, body });
  }
}

async function isOver({ stores, clock }: CommandPorts, { key, enteredAt }: Seat): Promise<boolean> {
  const { runId, job, cell } = memberOf(key);
  const aggregate = await stores.aggregates.load(runId);
  if (aggregate === undefined) return clock.now() - enteredAt > UNBORN_MS;
  if (aggregate.head.final || job === null) return aggregate.head.final;
  const attempts = aggregate.actors.filter(({ kind }) => kind === "job").map(({ state }) => state as JobState);
  return attempts.every((attempt) => attempt.index !== job || attempt.cell !== cell || attempt.place === null);
}
