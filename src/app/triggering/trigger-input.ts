/** What a trigger brings: variables, payload and ref, for a run and for a dry run. */
import { MillraceError } from "../../domain/errors.ts";
import type { Pairs } from "../../domain/plan.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";

const MAX_BYTES = 1024 * 1024;

/** Throws `too_large` for more than 1 MB. */
export function limitTriggerInput(part: "variables" | "payload", value: object): void {
  if (Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES) return;
  throw new MillraceError("too_large", `the ${part} of a trigger may have 1 MB in all: keep larger data elsewhere`);
}

/** The value of `trigger.ref` for a trigger without a ref: the variable `ref`, else the pipeline's default branch. */
export function defaultRef(variables: Pairs<string>, { defaultBranch }: Pick<Pipeline, "defaultBranch">): string {
  return variables.find(([name]) => name === "ref")?.[1] ?? defaultBranch;
}
