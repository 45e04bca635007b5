/** Protected targets, to which only runs of the default branch may deploy. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import type { JobSpec } from "../domain/plan.ts";

export interface DefaultBranch {
  /** Of the pipeline. */
  readonly name: string;
  /** True when the run builds what the branch holds, or has held. */
  readonly isBuilt: boolean;
}

/** Nothing for a job that may run. A job that may not fails when it begins, so that its `when` can leave it out of other runs. */
export function protectTarget(
  { target }: Pick<DefinedJob, "target">,
  ref: string,
  { isBuilt, name }: DefaultBranch = { isBuilt: false, name: "" },
): Pick<JobSpec, "refusal"> {
  if (target?.protected !== true || isBuilt) return {};
  const of = ref === "" || ref === name ? "another commit" : ref;
  return {
    refusal: `the target ${target.environment} is protected: only runs of the default branch ${name} may deploy to it, and this run is of ${of}: leave the job out with \`when\`, or trigger a run of ${name}`,
  };
}
