/** One pass of the retention pruner over the runs of some pipelines, in small pieces. */
import type { StepState } from "../../../actors/step/state.ts";
import type { PipelineId, ProjectId, RunId, StepRunId, TenantId } from "../../domain/ids.ts";
import {
  type Bound,
  isBefore,
  isBeyond,
  KEPT_PARTS,
  type KeptPart,
  type Limits,
  newestBeyond,
  type RetentionRules,
  type RunKey,
} from "../../domain/retention.ts";
import { type Project, tenantOf } from "../../stores/ports/pipelines.ts";
import type { KeptRun } from "../../stores/ports/retention.ts";
import { stopRunsOfDeleted } from "../catalogue/pipeline-deletion.ts";
import { effectiveRetention, readLayers, type SettingLayers } from "../effective-settings.ts";
import { deleteArtifactsOfRun } from "../content/artifact-pruner.ts";
import { removeWithObjects } from "../content/cold-logs.ts";
import type { UpkeepContext } from "./context.ts";
import { DeployedRuns } from "./deployed-runs.ts";
import { type Outlook, PruneSchedule } from "./prune-schedule.ts";
import { removeRun } from "../runs/remove-run.ts";
import { rulesOf } from "./retention.ts";
import { sealSuccession, findRerun } from "../runs/succession.ts";

export interface RunPruning {
  readonly rules: RetentionRules;
  /** True for a pipeline that this node prunes; each pipeline has one node. */
  readonly isMine: (pipelineId: PipelineId) => boolean;
  /** Called for each part of a run that was deleted. */
  readonly onPruned: (part: KeptPart) => void;
  /** False: only the numbers of runs count, not their ages. Absent: ages count. */
  readonly byAge?: boolean;
  /** Which pipelines to look at; kept from one pass to the next. A new one makes the pass look at all of them. */
  readonly schedule: PruneSchedule;
}

const PAGE_SIZE = 64;
/** Runs that are pruned at the same time: they share the disk syncs of SQLite, and the round trips to MongoDB. */
const CONCURRENCY = 16;
/** Runs of a deleted pipeline are kept for a day at most, so that users can still see how they ended. */
const DELETED_PIPELINE_MS = 86_400_000;
/**
 * A pipeline is looked at again after this time at the latest: it may have been deleted, and a new run may have been
 * missed.
 */
const LOOK_AGAIN_MS = 6 * 3_600_000;
/** After a new run its pipeline is looked at again once it has this age: the pipeline may have been deleted meanwhile. */
const NEW_RUN_MS = 60_000;
/** The operator of the stop of a run whose pipeline was deleted without a note. */
const DELETER = "millrace";
/** A part that a rerun still needs is looked at again after this time. */
const NEEDED_MS = 600_000;
/** A run becomes visible up to this long after the time of its creation: its edge works, or has another clock. */
const LATE_RUN_MS = 15_000;
/** New runs that one pass reads; further pipelines with new runs are found with their next run, or later. */
const NEW_RUNS = 1_000;
/** Greater than the id of every run. */
const AFTER_ALL = "run_~" as RunId;

type Projects = ReadonlyMap<ProjectId, Project>;
type OldestKept = Map<string, RunKey | null>;

/** Yields after each piece of work, so that the caller may pause or stop; the next pass finds what is left. */
export async function* pruneRuns(context: UpkeepContext, pruning: RunPruning): AsyncGenerator<void, void, void> {
  const { schedule, byAge = true } = pruning;
  const projects = await projectsWithRules(context, pruning.rules);
  schedule.noteRules(
    // Without ages, a pass does not learn when a run is due by its age.
    new Map(Array.from(projects, ([id, found]) => [id, JSON.stringify([byAge, rulesOf(found, pruning.rules)])])),
  );
  const oldestKept: OldestKept = new Map();
  yield* findPipelines(context, pruning, { projects, oldestKept });
  for (const pipelineId of schedule.due(context.clock.now())) {
    yield;
    const isMine = pruning.isMine(pipelineId);
    const outlook = isMine ? yield* prunePipeline(context, pruning, { pipelineId, projects, oldestKept }) : undefined;
    schedule.settle(pipelineId, outlook);
  }
}

/** All projects, each with the rules that apply to it as its own: those of its tenant and of the installation are in them. */
async function projectsWithRules(
  { stores, givenVariables: given = [] }: UpkeepContext,
  retention: RetentionRules,
): Promise<Projects> {
  const projects = new Map<ProjectId, Project>();
  const levels = new Map<TenantId, SettingLayers>();
  for (const project of await stores.pipelines.listProjects()) {
    const tenantId = tenantOf(project);
    const level = levels.get(tenantId) ?? (await readLayers({ stores }, { tenantId }));
    levels.set(tenantId, level);
    const inherited = effectiveRetention(level, { retention, given });
    projects.set(project.projectId, { ...project, retention: { ...inherited, ...project.retention } });
  }
  return projects;
}

/** Notes the pipelines with new runs; with a new schedule all pipelines. */
async function* findPipelines(
  { clock, stores }: UpkeepContext,
  { isMine, rules, schedule }: RunPruning,
  { projects, oldestKept }: { readonly projects: Projects; readonly oldestKept: OldestKept },
): AsyncGenerator<void, void, void> {
  const { retention } = stores;
  const now = clock.now();
  if (schedule.knownUpTo === null) {
    for (let at = await retention.nextPipeline(""); at !== undefined; at = await retention.nextPipeline(at)) {
      if (isMine(at)) schedule.note(at);
      yield;
    }
  } else {
    const newest = await retention.newestRuns(schedule.knownUpTo - LATE_RUN_MS, NEW_RUNS);
    for (const { pipelineId } of newest) if (isMine(pipelineId)) schedule.note(pipelineId);
    for (const projectId of new Set(newest.map((run) => run.projectId))) {
      const bounds = rulesOf(projects.get(projectId), rules);
      for (const part of KEPT_PARTS) {
        const kept = await oldestKeptIn(stores, part, bounds[part].perProject, { projectId, oldestKept });
        if (kept !== null) schedule.noteProject(projectId, part, kept.createdAt);
      }
    }
  }
  schedule.knownUpTo = now;
}

interface PipelinePlace {
  readonly pipelineId: PipelineId;
  readonly projects: Projects;
  /** The oldest run to keep in each project, by part and project; read once for each pass. */
  readonly oldestKept: OldestKept;
}

/** Answers undefined for a pipeline without runs. */
async function* prunePipeline(
  context: UpkeepContext,
  pruning: RunPruning,
  { pipelineId, projects, oldestKept }: PipelinePlace,
): AsyncGenerator<void, Outlook | undefined, void> {
  const { pipelines, retention } = context.stores;
  const newest = await retention.nthNewest(0, { pipelineId });
  if (newest === undefined) return undefined;
  const { projectId } = newest;
  const isDeleted = (await pipelines.find(pipelineId)) === undefined;
  // An edge of an earlier version notes no deletion, and stores a run without looking for one.
  if (isDeleted) await stopRunsOfDeleted(context, pipelineId, DELETER);
  const rules = rulesOf(projects.get(projectId), pruning.rules);
  const now = context.clock.now();
  let dueAt = now + (newest.createdAt > now - NEW_RUN_MS ? NEW_RUN_MS : LOOK_AGAIN_MS);
  const oldest: Record<KeptPart, number | null> = { runs: null, logs: null, artifacts: null, events: null };
  for (const part of KEPT_PARTS) {
    const ruled = isDeleted && part === "runs" ? boundForDeletedPipeline(rules.runs) : rules[part];
    const bound = pruning.byAge === false ? { ...ruled, ageMs: null } : ruled;
    if (bound.ageMs === null && bound.perPipeline === null && bound.perProject === null) continue;
    const limits = {
      ageMs: bound.ageMs,
      oldestKept: [
        bound.perPipeline === null
          ? null
          : ((await retention.nthNewest(bound.perPipeline - 1, { pipelineId })) ?? null),
        await oldestKeptIn(context.stores, part, bound.perProject, { projectId, oldestKept }),
      ],
    };
    // The newest run of a pipeline stays: lists of pipelines show its status.
    const keptRunId = isDeleted || part !== "runs" ? null : newest.runId;
    const deployed = isDeleted || part !== "runs" ? null : new DeployedRuns<KeptRun>(context);
    const left = yield* prunePart(context, pruning, { pipelineId, part, limits, keptRunId, deployed });
    dueAt = Math.min(dueAt, left.dueAt);
    oldest[part] = left.oldest;
  }
  const page = { upTo: newest.createdAt, after: null, limit: 1 };
  const [first] = await retention.pageRuns(pipelineId, "runs", page);
  return { projectId, dueAt, oldest, oldestRunAt: first?.createdAt ?? null };
}

interface PartPruning {
  readonly pipelineId: PipelineId;
  readonly part: KeptPart;
  readonly limits: Limits;
  /** The run that is kept in any case; null for none. */
  readonly keptRunId: string | null;
  /** Keeps what is deployed; null where that counts nothing. */
  readonly deployed: DeployedRuns<KeptRun> | null;
}

/** What is left of a part: when a run may next be beyond the limits, and when the oldest run was created. */
interface Left {
  readonly dueAt: number;
  readonly oldest: number | null;
}

async function* prunePart(
  context: UpkeepContext,
  pruning: RunPruning,
  { pipelineId, part, limits, keptRunId, deployed }: PartPruning,
): AsyncGenerator<void, Left, void> {
  const now = context.clock.now();
  const { retention } = context.stores;
  const upTo = newestBeyond(limits, now);
  let dueAt = Infinity;
  let oldest: number | null = null;
  for (let after: RunKey | null = null; upTo !== undefined;) {
    const page: readonly KeptRun[] = await retention.pageRuns(pipelineId, part, { upTo, after, limit: PAGE_SIZE });
    const due = page.filter((run) => run.runId !== keptRunId && isBeyond(run, limits, now));
    oldest ??= page.find((run) => !due.includes(run))?.createdAt ?? null;
    for (const run of page) {
      if (run.runId !== keptRunId && !due.includes(run)) dueAt = Math.min(dueAt, nextDueOf(run, limits, now));
    }
    for (let first = 0; first < due.length; first += CONCURRENCY) {
      const runs = due.slice(first, first + CONCURRENCY);
      const spare = deployed === null ? runs : await deployed.spare(runs);
      const deleted = await Promise.all(spare.map((run) => DELETE_PART[part](context, run)));
      for (const isDeleted of deleted) {
        if (isDeleted) pruning.onPruned(part);
        // With a rerun, what it has shown may go too.
        dueAt = Math.min(dueAt, isDeleted ? now : now + NEEDED_MS);
      }
      yield;
    }
    if (page.length < PAGE_SIZE) break;
    after = page.at(-1)!;
    yield;
  }
  const after = upTo === undefined ? null : { createdAt: upTo, runId: AFTER_ALL };
  const [next] = await retention.pageRuns(pipelineId, part, { upTo: Number.MAX_SAFE_INTEGER, after, limit: 1 });
  if (next !== undefined && limits.ageMs !== null) dueAt = Math.min(dueAt, next.createdAt + limits.ageMs);
  return { dueAt, oldest: oldest ?? next?.createdAt ?? null };
}

/** When a run that is not beyond the limits yet may be beyond them: one that is not settled may be at any time. */
function nextDueOf({ endedAt, ...run }: KeptRun, limits: Limits, now: number): number {
  const isSpare = limits.oldestKept.some((kept) => kept !== null && isBefore(run, kept));
  if (isSpare) return now;
  return limits.ageMs === null ? Infinity : Math.max(now, (endedAt ?? now) + limits.ageMs);
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
    const stepRunIds = ownSteps.map(({ id }) => id as StepRunId);
    await removeWithObjects(context, stepRunIds, () => retention.dropLogs(runId, stepRunIds));
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

/** The oldest run of the project that a bound for the project keeps; null when no run is beyond it. */
async function oldestKeptIn(
  { retention }: UpkeepContext["stores"],
  part: KeptPart,
  count: number | null,
  { projectId, oldestKept }: { readonly projectId: ProjectId; readonly oldestKept: OldestKept },
): Promise<RunKey | null> {
  if (count === null) return null;
  const key = `${part}/${projectId}`;
  if (!oldestKept.has(key)) oldestKept.set(key, (await retention.nthNewest(count - 1, { projectId })) ?? null);
  return oldestKept.get(key)!;
}

function boundForDeletedPipeline(bound: Bound): Bound {
  return { ...bound, ageMs: Math.min(bound.ageMs ?? DELETED_PIPELINE_MS, DELETED_PIPELINE_MS) };
}
