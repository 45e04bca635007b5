/** Which steps of a job run in containers, and what a project demands of them. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import { builtinOf } from "../domain/builtins.ts";
import type { Path } from "../definition/text/source.ts";
import type { JobSpec, StepSpec } from "../domain/plan.ts";
import { containerOf } from "./deferred-texts.ts";

type Contained = Pick<JobSpec, "container" | "services" | "steps">;

/** Whether the job has a container or a service, and whether each of its steps that runs a program has a container. */
export function containmentOf(spec: Contained): { readonly hasContainers: boolean; readonly isContained: boolean } {
  const { container, services, steps } = spec;
  return {
    hasContainers: container !== undefined || services !== undefined || steps.some((step) => step.container),
    isContained: !steps.some((step) => isUncontained(spec, step)),
  };
}

/** Tells `refuse` each step that would run on the agent itself. */
export function refuseUncontained(
  { path }: Pick<DefinedJob, "path">,
  spec: Contained,
  refuse: (path: Path, message: string) => void,
): void {
  for (const [index, step] of spec.steps.entries()) {
    if (!isUncontained(spec, step)) continue;
    refuse(
      [...path, "steps", index],
      "the project runs steps only in containers (`jobs.containers`), and this one has none: give the step or its job a `container`",
    );
  }
}

/** Builtins beside `shell` run no program of the definition, so they need no container. */
function isUncontained(spec: Contained, step: StepSpec): boolean {
  const builtin = builtinOf(step.uses);
  const runsProgram = builtin === undefined || builtin === "shell";
  return runsProgram && containerOf(spec, step) === undefined;
}
