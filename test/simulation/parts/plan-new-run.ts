/** Plans a run of a definition of the simulation, at once: no thread and no import may take real time. */
import { type NewRun, planInputOf, type PlannedRun, plannedOf } from "../../../src/app/triggering/create-run.ts";
import type { TriggeringContext } from "../../../src/app/triggering/context.ts";
import type { Definition } from "../../../src/definition/definition.ts";
import { NO_TRUST_DEMAND } from "../../../src/domain/labels.ts";
import { planRun } from "../../../src/planner/plan-run.ts";

export function planNewRun(
  { stores }: Pick<TriggeringContext, "stores">,
  definition: Definition,
  run: NewRun,
): PlannedRun {
  const input = planInputOf(run, stores.snapshotBytes, { trustDemand: NO_TRUST_DEMAND });
  return plannedOf(run, planRun({ ...input, definition, plugins: noPlugins }));
}

function noPlugins(): never {
  throw new Error("the pipelines of the simulation use no plugins");
}
