/**
 * Carries out decided deletions of pipelines, on the worker that owns the shard of the pipeline. An edge that was killed
 * in the middle of a deletion leaves the rest to this part, and so does an edge that stores a run of the pipeline late.
 */
import { shardOf } from "../../../queues/shard-map.ts";
import type { PipelineId } from "../../domain/ids.ts";
import { Passes } from "../../domain/work/passes.ts";
import type { PipelineDeletion } from "../../stores/ports/deletions.ts";
import { carryOutDeletion } from "../catalogue/pipeline-deletion.ts";
import type { UpkeepContext } from "./context.ts";

/** Between two looks for deletions. */
const TICK_MS = 2_000;
/** Between two looks at the runs of one deletion; the longest time counts once no run was live. */
const LIVE_MS = 2_000;
const LIVE_MS_A_RUN = 2;
const QUIET_MS = 30_000;
/** A deletion is looked at for this time: a creator may store its run as late as this. */
const KEPT_MS = 3_600_000;
/** A deletion that its caller has left undecided for this time is withdrawn: the caller was never answered. */
const UNDECIDED_MS = 60_000;
const PAGE_SIZE = 100;

export class PipelineDeleter {
  readonly #context: UpkeepContext;
  readonly #owned: () => readonly number[];
  /** When each pipeline is looked at next, by the monotonic clock. */
  #dueAt = new Map<PipelineId, number>();
  readonly #passes: Passes;

  constructor(context: UpkeepContext, owned: () => readonly number[]) {
    this.#context = context;
    this.#owned = owned;
    const onFailure = (error: unknown): void =>
      context.log.warn({ error: String(error) }, "deletions of pipelines wait: the next pass tries again");
    const { clock } = context;
    this.#passes = new Passes({ clock, periodMs: () => TICK_MS, pass: () => this.pass(), onFailure });
  }

  start(): void {
    this.#passes.start();
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  /** Looks once at every deletion that is due. Rejects when the store cannot be read or written. */
  async pass(): Promise<void> {
    const { clock, shards, stores } = this.#context;
    const owned = new Set(this.#owned());
    const known = new Map<PipelineId, number>();
    for (let after = ""; ;) {
      const page = await stores.pipelineDeletions.page(after, PAGE_SIZE);
      for (const deletion of page) {
        const { pipelineId } = deletion;
        if (!owned.has(shardOf(pipelineId, shards))) continue;
        const dueAt = this.#dueAt.get(pipelineId) ?? -Infinity;
        const isDue = clock.monotonic() >= dueAt;
        known.set(pipelineId, isDue ? clock.monotonic() + (await this.#carryOut(deletion)) : dueAt);
      }
      if (page.length < PAGE_SIZE) break;
      after = page.at(-1)!.pipelineId;
    }
    this.#dueAt = known;
  }

  /** Answers after how many milliseconds to look again. */
  async #carryOut({ pipelineId, at, by, decided }: PipelineDeletion): Promise<number> {
    const { clock, log, stores } = this.#context;
    const ageMs = clock.now() - at;
    if (!decided) {
      if (ageMs > UNDECIDED_MS) await stores.pipelineDeletions.withdraw(pipelineId);
      return LIVE_MS;
    }
    const live = await carryOutDeletion(this.#context, pipelineId, by);
    if (live > 0) {
      log.info({ pipelineId, live }, "live runs of a deleted pipeline are stopped");
      return Math.max(LIVE_MS, live * LIVE_MS_A_RUN);
    }
    if (ageMs > KEPT_MS) await stores.pipelineDeletions.drop(pipelineId);
    return QUIET_MS;
  }
}
