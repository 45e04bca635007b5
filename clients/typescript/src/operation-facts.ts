/** What the client needs to know of operations as it runs. Paths are written as in `ApiPath`. */
import { IDEMPOTENT_POSTS, SLASHED_PARAMETERS } from "./generated/facts.ts";

/** True for an operation that takes an `Idempotency-Key`. */
export function takesIdempotencyKey(method: string, path: string): boolean {
  return method === "POST" && IDEMPOTENT_POSTS.has(path);
}

/** True for a parameter whose value may contain slashes. */
export function mayHaveSlashes(path: string, parameter: string): boolean {
  return SLASHED_PARAMETERS.has(`${path} ${parameter}`);
}
