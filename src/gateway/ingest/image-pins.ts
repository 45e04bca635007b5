/** Pins the images of runs: the first digest that an agent tells for a reference counts for the whole run. */
import type { WithStores } from "../../app/context.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { declaredImages } from "../declared-images.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

export interface PinRequest extends StepGrant {
  readonly image: string;
  readonly digest: string;
}

/**
 * The digest that the run uses. Safe to repeat. Throws `conflict` when the agent does not hold the step, or when the step
 * has no such image.
 */
export async function pinImage(
  { stores }: WithStores<"aggregates" | "outputs" | "plans" | "runImages">,
  agentId: AgentId,
  { image, digest, ...grant }: PinRequest,
): Promise<string> {
  const { runId, step } = await requireHeldStep({ stores }, agentId, grant);
  if (!(await declaredImages(stores, step)).includes(image)) {
    throw new MillraceError("conflict", `step run ${grant.stepRunId} has no image ${JSON.stringify(image)}`);
  }
  return stores.runImages.pin({ runId, image, digest });
}
