/** The builtins that the agent runs in its own process. */
import { takeArtifact } from "./builtins/artifact/artifact-step.ts";
import type { Builtin } from "./builtins/builtin-call.ts";
import { useCache } from "./builtins/cache/cache-step.ts";
import { sendRequest } from "./builtins/http/http-step.ts";
import { takeUpload } from "./builtins/upload/upload-step.ts";

const BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ["artifact", takeArtifact],
  ["upload", takeUpload],
  ["cache", useCache],
  ["http", sendRequest],
]);

/**
 * The builtin that `uses` names (`artifact` or `artifact@v1`); undefined for a step that needs a process of its own.
 */
export function builtinOf(uses: string): Builtin | undefined {
  return BUILTINS.get(uses.endsWith("@v1") ? uses.slice(0, -3) : uses);
}
