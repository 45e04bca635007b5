/** A small plan with its jobs as one packed record in the place of the plan; a larger one has a record for each job. */
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import { packText, unpackText } from "./packed-text.ts";

interface Packed {
  readonly graph: RunPlan;
  readonly jobs: readonly JobSpec[];
}

/** Who needs one job unpacks all of them. */
const MAX_JOBS = 8;

/** Undefined for a plan that is not small. */
export function packPlan(graph: RunPlan, jobs: readonly JobSpec[]): Uint8Array | undefined {
  if (jobs.length > MAX_JOBS) return undefined;
  const value: Packed = { graph, jobs };
  const body = packText(JSON.stringify(value));
  return typeof body === "string" ? undefined : body;
}

export function unpackPlan(body: Uint8Array): Packed {
  return JSON.parse(unpackText(body)) as Packed;
}
