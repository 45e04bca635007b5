/** The trace context of a call, as both doors take it. */
import { parseTraceparent } from "../telemetry/trace-ids.ts";

/** The caller's `traceparent`; nothing when the header is absent or is none. */
export function givenTraceparent(header: string | undefined): { readonly traceparent?: string } {
  return header === undefined || parseTraceparent(header) === undefined ? {} : { traceparent: header };
}
