/** The check of the object storage among those of a node's readiness. */
import { MillraceError } from "../domain/errors.ts";
import { within } from "../domain/work/within.ts";
import type { ReadinessCheck } from "../app/readiness.ts";
import type { ObjectCalls } from "../stores/ports/blobs.ts";

/** Less than the time that all checks have. */
const ANSWER_MS = 1_500;

/**
 * Passes with a warning while the storage does not answer: runs, logs and most requests do without it, so a load balancer
 * must not take the node away.
 */
export function objectReadiness(objects: ObjectCalls): ReadinessCheck {
  return async () => {
    try {
      await within(ANSWER_MS, "the object storage", objects.check());
      return undefined;
    } catch (error) {
      if (error instanceof MillraceError) return error.message;
      throw error;
    }
  };
}
