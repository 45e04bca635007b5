/** A run as its views are made from it. The load of a large run is bounded, shared, and done in pieces. */
import type { Agents } from "../../domain/agent-wait.ts";
import type { JobRunId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate, JobInBrief } from "../../stores/ports/aggregates.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { readAgents } from "../agents/inventory.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { holderOf } from "../identity/holder.ts";
import type { LargeRead } from "../large-reads.ts";
import { noPlan, noRun } from "../lookups.ts";
import { RecentlyRead } from "../recently-read.ts";
import { loopShare } from "../loop-share.ts";
import type { WaitFacts } from "./approval-and-group-waits.ts";
import { declaresTests } from "./test-counts.ts";
import { waitsForAgent, waitsForAnyJob } from "./run-view.ts";
import { readWaitFacts } from "./wait-facts.ts";

/** A run with more actors is large: its load takes some 10 ms for each thousand. */
export const LARGE_ACTORS = 1_000;

/** The plan of a run of 5,000 jobs takes some 8 MB. */
const REMEMBERED_PLANS = 2;

/** What views of a run are read from. */
export type LoadContext = Pick<AppContext, "board" | "presence" | "log" | "largeReads" | "largePlans"> &
  WithStores<"aggregates" | "plans">;

export interface LoadedRun {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  /** All jobs, when the aggregate has only some of them. */
  readonly jobs?: readonly JobInBrief[];
  /** Empty when no job waits for an agent. */
  readonly agents: Agents;
  readonly waitFacts: WaitFacts;
  /** True when what is made of it may go to other callers, too. */
  readonly isShared?: boolean;
}

/**
 * What `render` makes of the run. `over` fires when the caller has taken the answer or is gone; without it, the answer
 * counts until it is made. Rejects with `not_found` and, for a large run, with `too_many`.
 */
export async function readLoaded<Answer>(
  context: LoadContext,
  caller: Caller,
  runId: RunId,
  {
    over,
    choose,
    ...read
  }: Pick<LargeRead<LoadedRun, Answer>, "view" | "isSmall" | "render"> & { over?: AbortSignal; choose?: Choose },
): Promise<Answer> {
  const size = await context.stores.aggregates.sizeOf(runId, LARGE_ACTORS + 1);
  if (size === undefined) throw noRun(runId, undefined);
  const isLarge = size.actors > LARGE_ACTORS;
  const isPart = isLarge && read.isSmall && choose !== undefined;
  const load = async (): Promise<LoadedRun> => {
    const loaded = await (isPart ? loadPart(context, runId, choose) : loadRun(context, runId, isLarge));
    return { ...loaded, isShared: isLarge };
  };
  if (!isLarge || context.largeReads === undefined) return read.render(await load());
  const made = new AbortController();
  const of = isPart ? `${runId} ${read.view}` : runId;
  const request = { ...read, of, version: size.version, load, isPart };
  try {
    return await context.largeReads.read(holderOf(caller), request, over ?? made.signal);
  } finally {
    made.abort();
  }
}

/** Throws `not_found`. */
export async function loadRun(context: LoadContext, runId: RunId, inPieces: boolean): Promise<LoadedRun> {
  const { aggregates, plans } = context.stores;
  let aggregate: Aggregate | undefined;
  let plan: RunPlan | undefined;
  if (inPieces) {
    await loopShare.enter();
    plan = await planOf(context, runId);
    await loopShare.enter();
    aggregate = await aggregates.loadInPieces(runId, () => loopShare.enter());
  } else [aggregate, plan] = await Promise.all([aggregates.load(runId), plans.loadPlan(runId)]);
  if (aggregate === undefined) throw noRun(runId, undefined);
  if (plan === undefined) throw noPlan(runId);
  return withFacts(context, aggregate, plan);
}

/** Which jobs of a run are shown. */
type Choose = (jobs: readonly JobInBrief[]) => readonly JobRunId[];

/** Some jobs of a large run, or all of it when the others tell something that is shown. Throws `not_found`. */
async function loadPart(context: LoadContext, runId: RunId, choose: Choose): Promise<LoadedRun> {
  await loopShare.enter();
  const part = await context.stores.aggregates.loadJobs(runId, choose, () => loopShare.enter());
  if (part === undefined) throw noRun(runId, undefined);
  if (waitsForAnyJob(part.aggregate.head)) return loadRun(context, runId, true);
  const plan = await planOf(context, runId);
  if (declaresTests(plan)) return loadRun(context, runId, true);
  return { ...(await withFacts(context, part.aggregate, plan)), jobs: part.jobs };
}

/** A memory of the plans of large runs. A page of such a run is asked for again and again, and plans never change. */
export function rememberedPlans(stores: Pick<Stores, "plans">): RecentlyRead<RunPlan> {
  return new RecentlyRead(REMEMBERED_PLANS, (runId) => readLargePlan({ stores }, runId as RunId));
}

/** Throws `not_found`. */
async function readLargePlan({ stores }: WithStores<"plans">, runId: RunId): Promise<RunPlan> {
  const plan = await stores.plans.loadPlanInPieces(runId, () => loopShare.enter());
  if (plan === undefined) throw noRun(runId, undefined);
  return plan;
}

function planOf(context: LoadContext, runId: RunId): Promise<RunPlan> {
  return context.largePlans?.read(runId) ?? readLargePlan(context, runId);
}

async function withFacts(context: LoadContext, aggregate: Aggregate, plan: RunPlan): Promise<LoadedRun> {
  const waitsForOne = waitsForAgent(aggregate) || aggregate.head.summary.waits?.reason === "agent";
  const [agents, waitFacts] = await Promise.all([
    readAgents(context, waitsForOne ? [plan.projectId] : []),
    readWaitFacts(context.stores.aggregates, aggregate),
  ]);
  return { aggregate, plan, agents, waitFacts };
}
