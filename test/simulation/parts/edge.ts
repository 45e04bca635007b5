/**
 * A simulated edge: it plans runs and takes their first turns with the real code, and stores commands. Its callers try
 * again until they have an answer, with the same id, as clients with a `requestId` do.
 */
import type { IncomingHttpHeaders } from "node:http";
import { chooseRerun, type RerunScope } from "../../../actors/run/rerun.ts";
import { beginAgain } from "../../../actors/run/reuse.ts";
import { hookToCall, receiveDelivery } from "../../../src/app/hooks/receive.ts";
import type { HookContext } from "../../../src/app/hooks/context.ts";
import { BegunRuns } from "../../../src/app/begun-runs.ts";
import { storeCommand } from "../../../src/app/commands/commands.ts";
import type { TriggeringContext } from "../../../src/app/triggering/context.ts";
import { storeNewRun } from "../../../src/app/triggering/create-run.ts";
import type { CommandBody } from "../../../src/domain/commands.ts";
import type { CommandId, HookId, RunId } from "../../../src/domain/ids.ts";
import type { RunOrigin } from "../../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import type { Effects } from "../judge/effects.ts";
import { pipelineOf, type Shape } from "../load/shapes.ts";
import { reportedOrigin, reportedPipeline } from "../outside/reporting.ts";
import { planNewRun } from "./plan-new-run.ts";
import { portsOf } from "./simulated-ports.ts";
import { testVault } from "../../support/secrets.ts";
import { UPLOAD_RULES } from "../../support/upload-rules.ts";

export interface NewTrigger {
  readonly runId: RunId;
  readonly shape: Shape;
}

export class Edge {
  readonly process: Process;
  readonly #context: TriggeringContext & Pick<HookContext, "newId" | "stores">;
  readonly #world: World;

  constructor(world: World, effects: Effects) {
    this.#world = world;
    this.process = world.newProcess("edge");
    const begunRuns = new BegunRuns();
    begunRuns.listenSent((run) => world.beside?.adopt(run));
    begunRuns.listenDone((runId) => world.beside?.creatorIsDone(runId));
    const ports = effects.counted(portsOf(world, this.process));
    this.#context = { ...ports, secrets: NO_SECRETS, begunRuns, newId: world.newId, uploadRules: UPLOAD_RULES };
  }

  /** Resolves when the run is stored. A repeat finishes a creation that was cut off. */
  async trigger({ runId, shape }: NewTrigger): Promise<void> {
    if ((await this.#context.stores.aggregates.loadHead(runId)) !== undefined) return;
    const pipeline = reportedPipeline(this.#world, pipelineOf(shape));
    const run = { runId, origin: reportedOrigin(ORIGIN, pipeline), pipeline };
    const planned = planNewRun(this.#context, shape.definition, run);
    await storeNewRun(this.#context, {}, planned);
  }

  /** Runs a run that has ended again, as src/app/triggering/rerun.ts does. False when there is nothing to run again. */
  async rerun({ runId, shape }: NewTrigger, of: RunId, scope: RerunScope): Promise<boolean> {
    const { aggregates, plans } = this.#context.stores;
    const [stored, aggregate, plan] = await Promise.all([
      aggregates.loadHead(runId),
      aggregates.load(of),
      plans.loadPlan(of),
    ]);
    if (stored !== undefined) return true;
    const states = new Map(aggregate!.actors.map(({ id, state }) => [id, state]));
    const origin = {
      ...aggregate!.head.origin,
      attempt: aggregate!.head.origin.attempt + 1,
      retryOf: of,
      firstRunId: of,
    };
    const run = { runId, origin, pipeline: reportedPipeline(this.#world, pipelineOf(shape)) };
    const planned = planNewRun(this.#context, shape.definition, run);
    const ended = { runId: of, plan: plan!, state: (id: string) => states.get(id) };
    const rerun = chooseRerun(ended, planned.plan, scope);
    if (typeof rerun === "string") return false;
    await storeNewRun(this.#context, {}, planned, beginAgain(runId, planned.plan, ended, rerun));
    return true;
  }

  /** Takes a delivery for a hook, as the open route of hooks does. */
  async receive(hookId: HookId, headers: IncomingHttpHeaders, body: Buffer) {
    const hook = await hookToCall(this.#context, hookId);
    return receiveDelivery(this.#context, hook, { headers, body });
  }

  /** Resolves when the command is stored. */
  command(id: CommandId, runId: RunId, body: CommandBody): Promise<void> {
    return storeCommand(this.#context, { id, rootId: runId, body });
  }
}

/** No pipeline of the simulation is in Git, so nothing is unsealed. */
export const NO_SECRETS = testVault({} as Pick<Stores, "secrets">);

export const ORIGIN: RunOrigin = {
  trigger: { kind: "manual", ref: "main" },
  variables: [],
  triggeredBy: "simulation",
  actor: "simulation",
  revisionId: "rev_simulated",
  commitSha: "rev_simulated",
  attempt: 1,
  retryOf: null,
  firstRunId: null,
};
