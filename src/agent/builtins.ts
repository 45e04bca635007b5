/** The builtins that the agent carries out itself, without a process. */
import type { LastWork } from "./after-job.ts";
import { takeArtifact } from "./artifact-step.ts";
import { useCache } from "./cache-step.ts";
import type { GatewayAccess } from "./gateway-call.ts";
import { sendRequest } from "./http-step.ts";

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
  readonly sayLate: (line: string) => void;
  /** A text with the secrets masked that the step was given. */
  readonly mask: (text: string) => string;
  /** Takes an output of the step: all of them within `OUTPUT_BOUNDS`. */
  readonly output: (name: string, value: string) => void;
  /** Takes what is to be done when the job has succeeded. */
  readonly whenJobSucceeded: (work: LastWork) => void;
  /** Aborted when the step is to end. */
  readonly signal: AbortSignal;
}

/** Rejects with why the step fails, for people. */
export type Builtin = (call: BuiltinCall) => Promise<void>;

const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ["artifact", takeArtifact],
  ["cache", useCache],
  ["http", sendRequest],
]);

/** The builtin that `uses` names (`artifact` or `artifact@v1`); undefined for what takes a process. */
export function builtinOf(uses: string): Builtin | undefined {
  return BUILTINS.get(uses.endsWith("@v1") ? uses.slice(0, -3) : uses);
}
