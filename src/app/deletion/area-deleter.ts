/**
 * Carries out the deletions of projects and tenants, on the worker that owns the shard of the id. A node that was killed in
 * the middle of a deletion leaves the rest to this part, and so does an edge that stores something there late.
 */
import { shardOf } from "../../../queues/shard-map.ts";
import { Passes } from "../../domain/work/passes.ts";
import type { AreaDeletion } from "../../stores/ports/deletions.ts";
import { type DocumentOwner, ownerOf } from "../../stores/ports/documents.ts";
import type { DeletionContext } from "./context.ts";
import { emptyProject } from "./project-deletion.ts";
import { emptyTenant } from "./tenant-deletion.ts";

/** Between two looks for deletions. */
const TICK_MS = 2_000;
/** Between two looks at an area of which nothing is left. */
const QUIET_MS = 30_000;
/** An area is looked at for this time: a creator may store something in it as late as this. */
const KEPT_MS = 3_600_000;
const PAGE_SIZE = 100;

export class AreaDeleter {
  readonly #context: DeletionContext;
  readonly #owned: () => readonly number[];
  /** When each area is looked at next, by the monotonic clock. */
  #dueAt = new Map<DocumentOwner, number>();
  readonly #passes: Passes;

  constructor(context: DeletionContext, owned: () => readonly number[]) {
    this.#context = context;
    this.#owned = owned;
    const { clock, log } = context;
    this.#passes = new Passes({
      clock,
      periodMs: () => TICK_MS,
      pass: () => this.#passOnce(),
      onFailure: (error) =>
        log.warn({ error: String(error) }, "deletions of projects and tenants wait: the next pass tries again"),
    });
  }

  start(): void {
    this.#passes.start();
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #passOnce(): Promise<void> {
    const { clock } = this.#context;
    const begunAt = clock.monotonic();
    // With more to remove, the deleter rests for as long as it worked: the slower the store, the less it is asked.
    if (await this.pass()) this.#passes.hurry(clock.monotonic() - begunAt);
  }

  /** Removes a piece of every area that is due, and answers whether there is more to remove at once. */
  async pass(): Promise<boolean> {
    const { clock, shards, stores } = this.#context;
    const owned = new Set(this.#owned());
    const known = new Map<DocumentOwner, number>();
    for (let after: DocumentOwner | "" = ""; ;) {
      const page = await stores.rights.deletions.page(after, PAGE_SIZE);
      for (const deletion of page) {
        const owner = ownerOf(deletion.area);
        if (!owned.has(shardOf(owner, shards))) continue;
        const dueAt = this.#dueAt.get(owner) ?? -Infinity;
        known.set(owner, clock.monotonic() >= dueAt ? clock.monotonic() + (await this.#carryOut(deletion)) : dueAt);
      }
      if (page.length < PAGE_SIZE) break;
      after = ownerOf(page.at(-1)!.area);
    }
    this.#dueAt = known;
    return [...known.values()].some((dueAt) => dueAt <= clock.monotonic());
  }

  /** Answers after how many milliseconds to look again. */
  async #carryOut({ area, at, by, emptiedAt }: AreaDeletion): Promise<number> {
    const { clock, log, stores } = this.#context;
    const { deletions } = stores.rights;
    let left: Awaited<ReturnType<typeof emptyProject>> = "empty";
    if ("projectId" in area) left = await emptyProject(this.#context, area.projectId, by);
    else await emptyTenant(this.#context, area.tenantId, by);
    if (left !== "empty") {
      if (emptiedAt !== null) await deletions.setEmptied(area, null);
      return left === "more" ? 0 : TICK_MS;
    }
    if (emptiedAt === null) {
      await deletions.setEmptied(area, clock.now());
      log.info({ ...area, by }, "nothing is left of what was deleted");
    }
    if (clock.now() - at > KEPT_MS) await deletions.drop(area);
    return QUIET_MS;
  }
}
