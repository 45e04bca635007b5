/** What a builtin of the agent is given, and does. */
import type { AfterJobWork } from "../after-job.ts";
import type { GatewayAccess } from "../connection/gateway-call.ts";

export interface BuiltinCall {
  readonly step: { readonly stepRunId: string; readonly token: bigint };
  /** As they came: nothing in them was looked at. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly workspace: string;
  /** For files of the agent's own. */
  readonly scratchDir: string;
  readonly gateway: GatewayAccess;
  /** Takes lines for the log of the step. */
  readonly say: (line: string) => void;
  /** As `say`, once the step has ended. */
  readonly sayAfterEnd: (line: string) => void;
  /** A text with the secrets masked that the step was given. */
  readonly mask: (text: string) => string;
  /** Takes an output of the step: all of them within `OUTPUT_BOUNDS`. */
  readonly output: (name: string, value: string) => void;
  /** Takes what is to be done when the job has succeeded. */
  readonly whenJobSucceeded: (work: AfterJobWork) => void;
  /** Aborted when the step is to end. */
  readonly signal: AbortSignal;
}

/** Rejects with why the step fails, for people. */
export type Builtin = (call: BuiltinCall) => Promise<void>;
