/**
 * Snapshots of runs for those who begin to follow a part of one. Calls that wait at the same time for parts of the same
 * run are answered from one read: the head of a run with many jobs is large, and is read for each of them otherwise.
 */
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { StoredActor } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import { loopShare } from "../loop-share.ts";

/** Actors of one read, at most. */
const MAX_ACTORS = 200;

/** An actor with what followers need of its run. It holds no more, because a follower keeps it for long. */
export interface ActorSnapshot {
  readonly pipelineId: PipelineId;
  /** Number of the newest event of the run, read together with the actor. */
  readonly eventNumber: number;
  /** Undefined when the run has no such actor. */
  readonly actor: StoredActor | undefined;
}

interface Batch {
  readonly ids: Set<string>;
  readonly loaded: Promise<((id: string) => ActorSnapshot) | undefined>;
}

export class RunSnapshots {
  readonly #context: WithStores<"aggregates">;
  /** Reads that have not begun. */
  readonly #waiting = new Map<RunId, Batch>();

  constructor(context: WithStores<"aggregates">) {
    this.#context = context;
  }

  /** The actor as it is stored after this call or later. Undefined when there is no such run. */
  async read(runId: RunId, id: string): Promise<ActorSnapshot | undefined> {
    let batch = this.#waiting.get(runId);
    if (batch === undefined || batch.ids.size >= MAX_ACTORS) {
      const ids = new Set<string>();
      batch = { ids, loaded: this.#load(runId, ids) };
      this.#waiting.set(runId, batch);
    }
    batch.ids.add(id);
    return (await batch.loaded)?.(id);
  }

  async #load(runId: RunId, ids: Set<string>): Promise<((id: string) => ActorSnapshot) | undefined> {
    await loopShare.enter();
    if (this.#waiting.get(runId)?.ids === ids) this.#waiting.delete(runId);
    const aggregate = await this.#context.stores.aggregates.loadActors(runId, [...ids]);
    if (aggregate === undefined) return undefined;
    const { eventNumber, summary } = aggregate.head;
    const { pipelineId } = summary;
    const actors = new Map(aggregate.actors.map((actor) => [actor.id, actor]));
    return (id) => ({ pipelineId, eventNumber, actor: actors.get(id) });
  }
}
