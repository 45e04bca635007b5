/** What a simulated worker does for schedules: it creates their runs with the real code, from a pipeline of the load. */
import type { SchedulePort } from "../../../actors/kernel/performer.ts";
import { startScheduledRun } from "../../../src/app/schedules/start-run.ts";
import type { SchedulesContext } from "../../../src/app/schedules/context.ts";
import { UPLOAD_RULES } from "../../support/upload-rules.ts";
import type { World } from "../engine/world.ts";
import { SCHEDULED_SHAPE } from "../load/schedules.ts";
import { reportedOrigin, reportedPipeline } from "../outside/reporting.ts";
import { pipelineOf } from "../load/shapes.ts";
import { NO_SECRETS, ORIGIN } from "./edge.ts";
import { planNewRun } from "./plan-new-run.ts";
import type { SimulatedPorts } from "./simulated-ports.ts";

export function scheduledStarts(world: World, ports: SimulatedPorts): SchedulePort {
  const context: SchedulesContext = { ...ports, secrets: NO_SECRETS, uploadRules: UPLOAD_RULES };
  return {
    startRun: (effect) =>
      startScheduledRun(context, effect, ({ runId, name, at }) => {
        const origin = { ...ORIGIN, trigger: { kind: "cron", ref: "main", scheduled: { name, at } } } as const;
        const { definition } = SCHEDULED_SHAPE;
        const pipeline = reportedPipeline(world, pipelineOf(SCHEDULED_SHAPE));
        const run = { runId, origin: reportedOrigin(origin, pipeline), pipeline };
        return Promise.resolve(planNewRun(context, definition, run));
      }),
    readTriggers: () => Promise.reject(new Error("no definition of the simulation changes")),
  };
}
