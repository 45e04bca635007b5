/** One look of retention at all runs of some pipelines, in small pieces. */
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
import { dropArtifacts } from "../content/artifact-pruner.ts";
import type { UpkeepContext } from "./context.ts";
import { removeRun } from "../runs/remove-run.ts";
import { rulesOf } from "./retention.ts";
import { neededBy, retriedBy } from "../runs/succession.ts";

export interface RunPruning {
  readonly rules: RetentionRules;
  /** Each pipeline is looked at by one node. */
  readonly isMine: (pipelineId: PipelineId) => boolean;
  readonly onSwept: (part: KeptPart) => void;
  /** Told, for each pipeline, when the oldest of its runs was created that is still there. */
  readonly onOldest: (createdAt: number) => void;
}

const PAGE = 64;
/** So many at once share the syncs of an embedded store, and the round trips to another one. */
const AT_ONCE = 16;
/** A pipeline that was deleted leaves its runs for as long as somebody may still look for their end, at most. */
const DELETED_PIPELINE_MS = 86_400_000;

/** Yields after each piece of work, so that the caller may rest or end it; what is left is found by the next look. */
export async function* pruneRuns(context: UpkeepContext, sweep: RunPruning): AsyncGenerator<void, void, void> {
  const { pipelines, retention } = context.stores;
  const projects = new Map((await pipelines.listProjects()).map((project) => [project.projectId, project]));
  const ofProject = new Map<string, RunKey | null>();

  for (let at = await retention.nextPipeline(""); at !== undefined; at = await retention.nextPipeline(at)) {
    yield;
    if (!sweep.isMine(at)) continue;
    const newest = await retention.newestBut(0, { pipelineId: at });
    if (newest === undefined) continue;
    const isDeleted = (await pipelines.find(at)) === undefined;
    const rules = rulesOf(projects.get(newest.projectId), sweep.rules);
    for (const part of KEPT_PARTS) {
      const bound = isDeleted && part === "runs" ? shortened(rules.runs) : rules[part];
      const limits = await limitsOf(context, part, bound, { pipelineId: at, projectId: newest.projectId, ofProject });
      // Lists of pipelines show how the newest run is.
      const kept = isDeleted || part !== "runs" ? null : newest.runId;
      yield* prunePart(context, sweep, { pipelineId: at, part, limits, kept });
    }
    const [oldest] = await retention.pageRuns(at, "runs", { upTo: newest.createdAt, after: null, limit: 1 });
    if (oldest !== undefined) sweep.onOldest(oldest.createdAt);
  }
}

interface PartPruning {
  readonly pipelineId: PipelineId;
  readonly part: KeptPart;
  readonly limits: Limits;
  /** The run that stays in any case. */
  readonly kept: string | null;
}

async function* prunePart(
  context: UpkeepContext,
  sweep: RunPruning,
  { pipelineId, part, limits, kept }: PartPruning,
): AsyncGenerator<void, void, void> {
  const now = context.clock.now();
  const upTo = newestBeyond(limits, now);
  if (upTo === undefined) return;
  for (let after: RunKey | null = null; ;) {
    const page: readonly KeptRun[] = await context.stores.retention.pageRuns(pipelineId, part, {
      upTo,
      after,
      limit: PAGE,
    });
    const going = page.filter((run) => run.runId !== kept && isBeyond(run, limits, now));
    for (let first = 0; first < going.length; first += AT_ONCE) {
      const gone = await Promise.all(going.slice(first, first + AT_ONCE).map((run) => TAKE[part](context, run)));
      for (const isGone of gone) if (isGone) sweep.onSwept(part);
      yield;
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!;
    yield;
  }
}

/** Each answers whether the part is gone: a newer attempt may need it. All may be repeated after any cut. */
const TAKE: Record<KeptPart, (context: UpkeepContext, run: KeptRun) => Promise<boolean>> = {
  runs: async (context, { runId, origin }) => {
    if ((await neededBy(context, { rootId: runId, origin })) !== null) return false;
    const aggregate = await context.stores.aggregates.load(runId);
    if (aggregate !== undefined) await removeRun(context, aggregate);
    return aggregate !== undefined;
  },
  logs: async (context, { runId, origin }) => {
    const { aggregates, retention } = context.stores;
    if (await isReused(context, "logs", { runId, origin })) return false;
    const aggregate = await aggregates.load(runId);
    const ran = (aggregate?.actors ?? []).filter(
      ({ kind, state }) => kind === "step" && (state as StepState).reusedFrom === null,
    );
    await retention.dropLogs(
      runId,
      ran.map(({ id }) => id as StepRunId),
    );
    return true;
  },
  artifacts: async (context, { runId, origin }) => {
    const { stores } = context;
    if (await isReused(context, "artifacts", { runId, origin })) return false;
    await dropArtifacts(stores, runId);
    await stores.retention.noteNoArtifacts(runId);
    return true;
  },
  events: async (context, { runId }) => {
    await context.stores.retention.dropEvents(runId);
    return true;
  },
};

/** Steps that a newer attempt has not run again show what this one has left. */
async function isReused(
  context: UpkeepContext,
  part: "logs" | "artifacts",
  { runId, origin }: Pick<KeptRun, "runId" | "origin">,
): Promise<boolean> {
  const successor = await retriedBy(context, { rootId: runId, origin, final: true });
  return successor !== null && (await context.stores.retention.dropped(successor))?.[part] === false;
}

interface Place {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** What was found for a project within this look, by part. */
  readonly ofProject: Map<string, RunKey | null>;
}

async function limitsOf(
  { stores }: UpkeepContext,
  part: KeptPart,
  { ageMs, perPipeline, perProject }: Bound,
  { pipelineId, projectId, ofProject }: Place,
): Promise<Limits> {
  const oldestOf = async (count: number | null, of: Parameters<typeof stores.retention.newestBut>[1]) =>
    count === null ? null : ((await stores.retention.newestBut(count - 1, of)) ?? null);
  const key = `${part}/${projectId}`;
  if (!ofProject.has(key)) ofProject.set(key, await oldestOf(perProject, { projectId }));
  return { ageMs, oldestKept: [await oldestOf(perPipeline, { pipelineId }), ofProject.get(key)!] };
}

function shortened(bound: Bound): Bound {
  return { ...bound, ageMs: Math.min(bound.ageMs ?? DELETED_PIPELINE_MS, DELETED_PIPELINE_MS) };
}
