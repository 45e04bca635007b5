/** Which plugins the steps of a run use: their exact versions, the same for every attempt. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { findPluginProblems, isPlugin } from "../definition/checks/plugin-checks.ts";
import type { JobSpec, StepSpec } from "../domain/plan.ts";
import { actionOf, type PluginLookup } from "../domain/plugins.ts";
import type { TextResolver } from "./text-resolver.ts";

/** The steps with what the registry knows of their plugins; what is wrong with them is told to `told`. */
export function pinPlugins(
  spec: JobSpec,
  { path }: DefinedJob,
  lookup: PluginLookup | undefined,
  told: Pick<TextResolver, "refuse" | "warn">,
): JobSpec {
  if (lookup === undefined || !spec.steps.some(({ uses }) => isPlugin(uses))) return spec;
  const steps = spec.steps.map((step, index): StepSpec => {
    const { uses, action, args } = step;
    if (!isPlugin(uses)) return step;
    const found = lookup(uses);
    const late = new Set(step.late);
    const problems = findPluginProblems({ uses, action, args }, found, (at) => late.has(toPointer(["args", ...at])));
    for (const { code, severity, path: below, message, hint } of problems) {
      const words = hint === undefined ? message : `${message} (${hint})`;
      const at = [...path, "steps", index, ...below];
      if (severity === "error") told.refuse(code, at, words);
      else told.warn(code, at, words);
    }
    if (found.found !== "release") return step;
    const { manifest, sha256, sizeBytes } = found.release;
    const chosen = actionOf(manifest, action)?.[0] ?? action;
    return { ...step, uses: `${manifest.name}@${manifest.version}`, action: chosen, plugin: { sha256, sizeBytes } };
  });
  return { ...spec, steps };
}
