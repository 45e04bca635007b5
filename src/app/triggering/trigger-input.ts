/** What a trigger brings: variables, payload and ref, for a run and for a dry run. */
import { MillraceError } from "../../domain/errors.ts";

const MAX_BYTES = 1024 * 1024;

/** Throws `too_large` for more than 1 MB. */
export function limitTriggerInput(part: "variables" | "payload", value: object): void {
  if (Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES) return;
  throw new MillraceError("too_large", `the ${part} of a trigger may have 1 MB in all: keep larger data elsewhere`);
}
