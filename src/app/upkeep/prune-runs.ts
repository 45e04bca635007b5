/** One pass of the retention pruner over the runs of some pipelines, in small pieces. */
import type { StepState } from "../../../actors/step/state.ts";
import type { PipelineId, ProjectId, StepRunId } from "../../domain/ids.ts";
import {
  type Bound,
  isBeyond,
  KEPT_PARTS,
  type KeptPart,
  type Limits,
  newestBeyond,
  type RetentionRules,
  type RunKey,
} from "../../domain/retention.ts";
import type { KeptRun } from "../../stores/ports/retention.ts";
import { deleteArtifactsOfRun } from "../content/artifact-pruner.ts";
import type { UpkeepContext } from "./context.ts";
import { removeRun } from "../runs/remove-run.ts";
import { rulesOf } from "./retention.ts";
import { sealSuccession, findRerun } from "../runs/succession.ts";

export interface RunPruning {
  readonly rules: RetentionRules;
  /** True for a pipeline that this node prunes; each pipeline has one node. */
  readonly isMine: (pipelineId: PipelineId) => boolean;
  /** Called for each part of a run that was deleted. */
  readonly onPruned: (part: KeptPart) => void;
  /** Called for each pipeline with the creation time of its oldest remaining run, Unix milliseconds. */
  readonly onOldest: (createdAt: number) => void;
  /** False: only the numbers of runs count, not their ages. Absent: ages count. */
  readonly byAge?: boolean;
}

const PAGE_SIZE = 64;
/** Runs that are pruned at the same time: they share the disk syncs of SQLite, and the round trips to MongoDB. */
const CONCURRENCY = 16;
/** Runs of a deleted pipeline are kept for a day at most, so that users can still see how they ended. */
const DELETED_PIPELINE_MS = 86_400_000;

/** Yields after each piece of work, so that the caller may pause or stop; the next pass finds what is left. */
export async function* pruneRuns(context: UpkeepContext, pruning: RunPruning): AsyncGenerator<void, void, void> {
  const { pipelines, retention } = context.stores;
  const projects = new Map((await pipelines.listProjects()).map((project) => [project.projectId, project]));
  const oldestKeptByProject = new Map<string, RunKey | null>();

  for (let at = await retention.nextPipeline(""); at !== undefined; at = await retention.nextPipeline(at)) {
    yield;
    if (!pruning.isMine(at)) continue;
    const newest = await retention.nthNewest(0, { pipelineId: at });
    if (newest === undefined) continue;
    const isDeleted = (await pipelines.find(at)) === undefined;
    const rules = rulesOf(projects.get(newest.projectId), pruning.rules);
    for (const part of KEPT_PARTS) {
      const ruled = isDeleted && part === "runs" ? boundForDeletedPipeline(rules.runs) : rules[part];
      const bound = pruning.byAge === false ? { ...ruled, ageMs: null } : ruled;
      const limits = await limitsOf(context, part, bound, {
        pipelineId: at,
        projectId: newest.projectId,
        oldestKeptByProject,
      });
      // The newest run of a pipeline stays: lists of pipelines show its status.
      const keptRunId = isDeleted || part !== "runs" ? null : newest.runId;
      yield* prunePart(context, pruning, { pipelineId: at, part, limits, keptRunId });
    }
    const [oldest] = await retention.pageRuns(at, "runs", { upTo: newest.createdAt, after: null, limit: 1 });
    if (oldest !== undefined) pruning.onOldest(oldest.createdAt);
  }
}

interface PartPruning {
  readonly pipelineId: PipelineId;
  readonly part: KeptPart;
  readonly limits: Limits;
  /** The run that is kept in any case; null for none. */
  readonly keptRunId: string | null;
}

async function* prunePart(
  context: UpkeepContext,
  pruning: RunPruning,
  { pipelineId, part, limits, keptRunId }: PartPruning,
): AsyncGenerator<void, void, void> {
  const now = context.clock.now();
  const upTo = newestBeyond(limits, now);
  if (upTo === undefined) return;
  for (let after: RunKey | null = null; ;) {
    const page: readonly KeptRun[] = await context.stores.retention.pageRuns(pipelineId, part, {
      upTo,
      after,
      limit: PAGE_SIZE,
    });
    const due = page.filter((run) => run.runId !== keptRunId && isBeyond(run, limits, now));
    for (let first = 0; first < due.length; first += CONCURRENCY) {
      const deleted = await Promise.all(
        due.slice(first, first + CONCURRENCY).map((run) => DELETE_PART[part](context, run)),
      );
      for (const isDeleted of deleted) if (isDeleted) pruning.onPruned(part);
      yield;
    }
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)!;
    yield;
  }
}

/** Deletes one part of a run, and answers whether it did: a rerun may still need the part. Idempotent. */
const DELETE_PART: Record<KeptPart, (context: UpkeepContext, run: KeptRun) => Promise<boolean>> = {
  runs: async (context, { runId, origin }) => {
    if ((await sealSuccession(context, { rootId: runId, origin })) !== null) return false;
    const aggregate = await context.stores.aggregates.load(runId);
    if (aggregate !== undefined) await removeRun(context, aggregate);
    return aggregate !== undefined;
  },
  logs: async (context, { runId, origin }) => {
    const { aggregates, retention } = context.stores;
    if (await isReused(context, "logs", { runId, origin })) return false;
    const aggregate = await aggregates.load(runId);
    const ownSteps = (aggregate?.actors ?? []).filter(
      ({ kind, state }) => kind === "step" && (state as StepState).reusedFrom === null,
    );
    await retention.dropLogs(
      runId,
      ownSteps.map(({ id }) => id as StepRunId),
    );
    return true;
  },
  artifacts: async (context, { runId, origin }) => {
    const { stores } = context;
    if (await isReused(context, "artifacts", { runId, origin })) return false;
    await deleteArtifactsOfRun(stores, runId);
    await stores.retention.noteNoArtifacts(runId);
    return true;
  },
  events: async (context, { runId }) => {
    await context.stores.retention.dropEvents(runId);
    return true;
  },
};

/**
 * True when a rerun exists that still shows this part of the run: its reused steps have the logs and artifacts of this
 * run.
 */
async function isReused(
  context: UpkeepContext,
  part: "logs" | "artifacts",
  { runId, origin }: Pick<KeptRun, "runId" | "origin">,
): Promise<boolean> {
  const successor = await findRerun(context, { rootId: runId, origin, final: true });
  return successor !== null && (await context.stores.retention.dropped(successor))?.[part] === false;
}

interface PipelinePlace {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** The oldest run to keep in each project, by part and project; read once for each pass. */
  readonly oldestKeptByProject: Map<string, RunKey | null>;
}

async function limitsOf(
  { stores }: UpkeepContext,
  part: KeptPart,
  { ageMs, perPipeline, perProject }: Bound,
  { pipelineId, projectId, oldestKeptByProject }: PipelinePlace,
): Promise<Limits> {
  const oldestOf = async (count: number | null, of: Parameters<typeof stores.retention.nthNewest>[1]) =>
    count === null ? null : ((await stores.retention.nthNewest(count - 1, of)) ?? null);
  const key = `${part}/${projectId}`;
  if (!oldestKeptByProject.has(key)) oldestKeptByProject.set(key, await oldestOf(perProject, { projectId }));
  return { ageMs, oldestKept: [await oldestOf(perPipeline, { pipelineId }), oldestKeptByProject.get(key)!] };
}

function boundForDeletedPipeline(bound: Bound): Bound {
  return { ...bound, ageMs: Math.min(bound.ageMs ?? DELETED_PIPELINE_MS, DELETED_PIPELINE_MS) };
}
