/** Pins the plugins that the steps of a run use to exact versions, which are the same for every attempt. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import type { ContainerSpec } from "../domain/containers/containers.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { findPluginProblems, isPlugin } from "../definition/checks/plugin-checks.ts";
import type { JobSpec, StepSpec } from "../domain/plan.ts";
import { actionOf, type ArgsPath, type PluginLookup } from "../domain/plugins.ts";
import type { TextResolver } from "./text-resolver.ts";

/**
 * The job with the exact version, package and action of each plugin that the registry knows. Problems with the use of a plugin go
 * to `report`. Without a `lookup` the job stays as it is.
 */
export function pinPlugins(
  spec: JobSpec,
  { path }: DefinedJob,
  lookup: PluginLookup | undefined,
  report: Pick<TextResolver, "refuse" | "warn">,
): JobSpec {
  if (lookup === undefined || !spec.steps.some(({ uses }) => isPlugin(uses))) return spec;
  const steps = spec.steps.map((step, index): StepSpec => {
    const { uses, action, args } = step;
    if (!isPlugin(uses)) return step;
    const found = lookup(uses);
    const deferred = new Set(step.late);
    const isDeferred = (at: ArgsPath): boolean => deferred.has(toPointer(["args", ...at]));
    const problems = findPluginProblems({ uses, action, args }, found, isDeferred);
    for (const { code, severity, path: below, message, hint } of problems) {
      const words = hint === undefined ? message : `${message} (${hint})`;
      const at = [...path, "steps", index, ...below];
      if (severity === "error") report.refuse(code, at, words);
      else report.warn(code, at, words);
    }
    if (found.found !== "release") return step;
    const { manifest, sha256, sizeBytes, owner } = found.release;
    const chosen = actionOf(manifest, action)?.[0] ?? action;
    const plugin = { sha256, sizeBytes, ...(owner !== "installation" && { owner }) };
    const pinned = { ...step, uses: `${manifest.name}@${manifest.version}`, action: chosen, plugin };
    // The plugin says what it needs, and the step may say otherwise. The container of the job is for the other steps.
    const { image } = manifest;
    return image === undefined || step.container !== undefined ? pinned : { ...pinned, container: containerOf(image) };
  });
  return { ...spec, steps };
}

function containerOf(image: string): ContainerSpec {
  return {
    image,
    env: [],
    credential: "",
    pull: "missing",
    late: [],
    user: "",
    entrypoint: [],
    network: "default",
    cpus: null,
    memoryBytes: null,
    pids: null,
  };
}
