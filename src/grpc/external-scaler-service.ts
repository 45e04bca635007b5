/** externalscaler.ExternalScaler: tells KEDA how many agents the waiting jobs need. */
import { z } from "zod";
import type { ExternalScalerServer, ScaledObjectRef } from "../../proto/generated/externalscaler/externalscaler.ts";
import { idsOfSlugs } from "../app/area-names.ts";
import { authoriseLookUp, type Caller } from "../app/identity/access.ts";
import { count } from "../app/lists.ts";
import { countJobs, demandQuery } from "../app/runs/agent-demand.ts";
import { pause, systemTimers } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import { type StreamContext, unary } from "./calls.ts";
import { nonEmpty } from "./messages/fields.ts";
import { parseMessage } from "./messages/parse-message.ts";
import type { ServerStreams } from "./server-streams.ts";

/** How often a stream looks whether agents are needed. */
const LOOK_MS = 2_000;
const METRIC = "millrace-jobs";
const MAX_JOBS_PER_AGENT = 1_000;

/** KEDA sends all metadata of a trigger, also what is for KEDA alone. */
const metadata = z.object({
  labels: z.string("is required: the labels of the agents that are scaled, such as pool=linux; empty for none"),
  trusted: z.string().optional(),
  projectId: z.string().optional(),
  tenantId: z.string().optional(),
  jobsPerAgent: count(MAX_JOBS_PER_AGENT).default(1),
  /** `waiting`: jobs that wait. `all`: also those that agents with these labels hold. */
  jobs: z.enum(["waiting", "all"]).default("waiting"),
});

const scaledObject = z.object({ scalerMetadata: metadata });

export function externalScalerService(context: StreamContext, streams: ServerStreams): ExternalScalerServer {
  const jobsFor = async (caller: Caller, ref: ScaledObjectRef | undefined): Promise<number> => {
    const { jobs, labels, trusted, ...given } = readTrigger(ref);
    const names = { projectId: nonEmpty(given.projectId ?? ""), tenantId: nonEmpty(given.tenantId ?? "") };
    const ids = { ...names, ...(await idsOfSlugs(context, caller, names)) };
    const query = parseMessage(demandQuery, { labels, trusted: nonEmpty(trusted ?? ""), ...ids });
    return countJobs(context, caller, query, jobs);
  };
  return {
    isActive: unary(context, async (ref, { caller }) => ({ result: (await jobsFor(caller, ref)) > 0 })),

    streamIsActive: streams.handler(async ({ request, caller, hungUp, write }) => {
      let told: boolean | undefined;
      while (!hungUp.aborted) {
        const result = (await jobsFor(caller, request)) > 0;
        if (result !== told) await write({ result }, "call again");
        told = result;
        await pause(systemTimers, LOOK_MS, hungUp);
      }
    }),

    getMetricSpec: unary(context, async (ref, { caller }) => {
      authoriseLookUp(caller, "readRuns");
      const { jobsPerAgent } = readTrigger(ref);
      const spec = { metricName: METRIC, targetSize: BigInt(jobsPerAgent), targetSizeFloat: jobsPerAgent };
      return Promise.resolve({ metricSpecs: [spec] });
    }),

    getMetrics: unary(context, async ({ scaledObjectRef, metricName }, { caller }) => {
      if (metricName !== METRIC)
        throw new MillraceError("not_found", `there is no metric ${metricName}: ask for ${METRIC}`);
      const jobs = await jobsFor(caller, scaledObjectRef);
      return { metricValues: [{ metricName, metricValue: BigInt(jobs), metricValueFloat: jobs }] };
    }),
  };
}

function readTrigger(ref: ScaledObjectRef | undefined): z.output<typeof metadata> {
  return parseMessage(scaledObject, ref ?? { scalerMetadata: {} }).scalerMetadata;
}
