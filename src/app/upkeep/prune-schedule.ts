/**
 * When each pipeline has to be looked at for retention next, so that a pass asks nothing about a pipeline in which no run
 * can be due. The schedule is a hint in memory: a lost one is computed again from the store. Pure.
 */
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import type { KeptPart } from "../../domain/retention.ts";

/** What a look at a pipeline has found. */
export interface Outlook {
  readonly projectId: ProjectId;
  /** No run of the pipeline is beyond its limits before this time, unless runs are added; Unix milliseconds. */
  readonly dueAt: number;
  /** When the oldest run that has the part was created; null for none, and for a part without bounds. */
  readonly oldest: Readonly<Record<KeptPart, number | null>>;
  /** When the oldest run was created. */
  readonly oldestRunAt: number | null;
}

export class PruneSchedule {
  /** Null for a pipeline that was not looked at yet. */
  readonly #outlooks = new Map<PipelineId, Outlook | null>();
  readonly #due = new Set<PipelineId>();
  #rules: ReadonlyMap<ProjectId, string> = new Map();
  /** Up to when all runs are known, Unix milliseconds; null until all pipelines are known. */
  knownUpTo: number | null = null;

  /** The pipeline has to be looked at, for example because it has a new run. */
  note(pipelineId: PipelineId): void {
    if (!this.#outlooks.has(pipelineId)) this.#outlooks.set(pipelineId, null);
    this.#due.add(pipelineId);
  }

  /** Runs of the project that were created up to this time have become too many. */
  noteProject(projectId: ProjectId, part: KeptPart, createdAt: number): void {
    for (const [pipelineId, outlook] of this.#outlooks) {
      const oldest = outlook?.projectId === projectId ? outlook.oldest[part] : null;
      if (oldest !== null && oldest <= createdAt) this.#due.add(pipelineId);
    }
  }

  /** Compares the rules of each project, as text, with those of the last call: pipelines of a changed project are due. */
  noteRules(rules: ReadonlyMap<ProjectId, string>): void {
    const before = this.#rules;
    this.#rules = rules;
    const changed = new Set([...rules, ...before].map(([id]) => id).filter((id) => rules.get(id) !== before.get(id)));
    if (changed.size === 0) return;
    for (const [pipelineId, outlook] of this.#outlooks) {
      if (outlook !== null && changed.has(outlook.projectId)) this.#due.add(pipelineId);
    }
  }

  /** The pipelines to look at now. */
  due(now: number): readonly PipelineId[] {
    for (const [pipelineId, outlook] of this.#outlooks) {
      if (outlook === null || outlook.dueAt <= now) this.#due.add(pipelineId);
    }
    return [...this.#due];
  }

  /** The pipeline was looked at; undefined when it has no run, or is another node's. */
  settle(pipelineId: PipelineId, outlook: Outlook | undefined): void {
    this.#due.delete(pipelineId);
    if (outlook === undefined) this.#outlooks.delete(pipelineId);
    else this.#outlooks.set(pipelineId, outlook);
  }

  /** When the oldest run of all known pipelines was created; null without a run. */
  get oldestRunAt(): number | null {
    let oldest: number | null = null;
    for (const outlook of this.#outlooks.values()) {
      const at = outlook?.oldestRunAt ?? null;
      if (at !== null) oldest = Math.min(oldest ?? at, at);
    }
    return oldest;
  }
}
