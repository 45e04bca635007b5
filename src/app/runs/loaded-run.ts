/** A run as its views are made from it. The load of a large run is bounded, shared, and done in pieces. */
import type { Agents } from "../../domain/agent-wait.ts";
import type { RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import { readAgents } from "../agents/inventory.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import type { LargeRead } from "../large-reads.ts";
import { noPlan, noRun } from "../lookups.ts";
import { loopShare } from "../loop-share.ts";
import type { WaitFacts } from "./approval-and-group-waits.ts";
import { waitsForAgent } from "./run-view.ts";
import { readWaitFacts } from "./wait-facts.ts";

/** A run with more actors is large: its load takes some 10 ms for each thousand. */
export const LARGE_ACTORS = 1_000;

/** What views of a run are read from. */
export type LoadContext = Pick<AppContext, "board" | "presence" | "log" | "largeReads"> &
  WithStores<"aggregates" | "plans">;

export interface LoadedRun {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  /** Empty when no job waits for an agent. */
  readonly agents: Agents;
  readonly waitFacts: WaitFacts;
}

/**
 * What `render` makes of the run. `over` fires when the caller has taken the answer or is gone; without it, the answer
 * counts until it is made. Rejects with `not_found` and, for a large run, with `too_many`.
 */
export async function readLoaded<Answer>(
  context: LoadContext,
  caller: Caller,
  runId: RunId,
  { over, ...read }: Pick<LargeRead<LoadedRun, Answer>, "view" | "isSmall" | "render"> & { over?: AbortSignal },
): Promise<Answer> {
  const size = await context.stores.aggregates.sizeOf(runId, LARGE_ACTORS + 1);
  if (size === undefined) throw noRun(runId, undefined);
  const isLarge = size.actors > LARGE_ACTORS;
  const load = () => loadRun(context, runId, isLarge);
  if (!isLarge || context.largeReads === undefined) return read.render(await load());
  const made = new AbortController();
  const request = { ...read, of: runId, version: size.version, load };
  try {
    return await context.largeReads.read(caller, request, over ?? made.signal);
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
    plan = await plans.loadPlan(runId);
    await loopShare.enter();
    aggregate = await aggregates.loadInPieces(runId, () => loopShare.enter());
  } else [aggregate, plan] = await Promise.all([aggregates.load(runId), plans.loadPlan(runId)]);
  if (aggregate === undefined) throw noRun(runId, undefined);
  if (plan === undefined) throw noPlan(runId);
  const [agents, waitFacts] = await Promise.all([
    readAgents(context, waitsForAgent(aggregate) ? [plan.projectId] : []),
    readWaitFacts(aggregates, aggregate),
  ]);
  return { aggregate, plan, agents, waitFacts };
}
