/** The builtins that the agent carries out itself, without a process. */
import { takeArtifact } from "./artifact/artifact-step.ts";
import type { Builtin } from "./builtin-call.ts";
import { useCache } from "./cache/cache-step.ts";
import { sendRequest } from "./http/http-step.ts";

const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ["artifact", takeArtifact],
  ["cache", useCache],
  ["http", sendRequest],
]);

/** The builtin that `uses` names (`artifact` or `artifact@v1`); undefined for what takes a process. */
export function builtinOf(uses: string): Builtin | undefined {
  return BUILTINS.get(uses.endsWith("@v1") ? uses.slice(0, -3) : uses);
}
