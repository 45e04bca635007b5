/** The interface between the agent and a builtin that runs in the agent's process. */
import type { AfterJobWork } from "./after-job.ts";
import type { GatewayAccess } from "../connection/gateway-call.ts";

export interface BuiltinCall {
  readonly step: {
    readonly stepRunId: string;
    readonly token: bigint;
    /** Absent when the control plane did not tell it. */
    readonly contentLimits?: { readonly cacheBytes: bigint } | undefined;
  };
  /** The arguments of the step, which the agent has not validated. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly workspace: string;
  /** A folder for temporary files of the agent. */
  readonly scratchDir: string;
  readonly gateway: GatewayAccess;
  /** Writes a line to the log of the step. */
  readonly say: (line: string) => void;
  /** Writes a line to the log of the step after the step has ended. */
  readonly sayAfterEnd: (line: string) => void;
  /** Masks the secrets of the step in a text. */
  readonly mask: (text: string) => string;
  /** Sets an output of the step. All outputs together must be within `OUTPUT_BOUNDS`. */
  readonly output: (name: string, value: string) => void;
  /** Registers work for the time when the job has succeeded. */
  readonly whenJobSucceeded: (work: AfterJobWork) => void;
  /** Aborted when the step must end. */
  readonly signal: AbortSignal;
}

/** Runs the step. Rejects when the step fails, with an error whose message is the reason for users. */
export type Builtin = (call: BuiltinCall) => Promise<void>;
