/** What a definition includes, for callers who read it. */
import type { Revision } from "../../stores/ports/pipelines.ts";
import type { Asking } from "./plugin-lookup.ts";
import type { SpecView } from "./spec-shapes.ts";

/** Nothing is resolved for a definition with errors: there may be no bound on it. */
export async function viewOfIncludes(
  { work, caller }: Asking,
  { text, format, includes }: Pick<Revision, "text" | "format" | "includes">,
  isValid: boolean,
): Promise<Pick<SpecView, "resolved" | "includes">> {
  if (includes === undefined) return { resolved: null, includes: [] };
  return {
    resolved: isValid ? await work.resolved(caller, { text, format, includes }) : null,
    includes: includes.files.map((file) => ({ path: file.path, text: "text" in file ? file.text : null })),
  };
}
