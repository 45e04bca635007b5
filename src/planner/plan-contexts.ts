/** What the expressions of a run read that is known when it is planned. */
import type { Definition } from "../definition/definition.ts";
import { applyInputs } from "../definition/inputs.ts";
import { toPointer } from "../domain/json-pointer.ts";
import type { Problem } from "../domain/errors.ts";
import type { PipelineId, ProjectId } from "../domain/ids.ts";
import type { Pairs, Scalar } from "../domain/plan.ts";
import type { PluginLookup } from "../domain/plugins.ts";
import type { Json } from "../expressions/context-data.ts";

/** What started the run. */
export interface TriggerContext {
  readonly kind: "manual" | "cron" | "event";
  readonly ref: string;
  /** What came with it; its fields are those of `trigger`, besides `kind`, `ref` and `payload` itself. */
  readonly payload: Readonly<Record<string, Json>>;
}

export interface Subject {
  readonly definition: Definition;
  readonly trigger: TriggerContext;
  /** Override those of the definition. */
  readonly variables: Pairs<string>;
  readonly pipelineId: PipelineId;
  readonly pipelineName: string;
  readonly projectId: ProjectId;
  /** Of the pipeline; empty for none, null where nobody knows. */
  readonly repoUrl: string | null;
  /** Absent where nobody knows which plugins there are: nothing is told of them then, and none is pinned. */
  readonly plugins?: PluginLookup;
}

export interface PlanContexts {
  /** All but `run` and `matrix`. */
  readonly contexts: Readonly<Record<string, Json>>;
  /** Inputs that are missing or of the wrong type; pointers are into the body of a trigger. */
  readonly problems: readonly Problem[];
}

/** The values of contexts. Only a trigger by hand has to give what is required. */
export function planContexts(subject: Subject): PlanContexts {
  const { definition, trigger, variables } = subject;
  const given = new Map<string, Scalar>(variables);
  const { values, problems } = applyInputs(definition.inputs, given);
  return {
    contexts: {
      trigger: { ...trigger.payload, payload: trigger.payload, kind: trigger.kind, ref: trigger.ref },
      variables: Object.fromEntries([...definition.variables, ...variables, ...values]),
      pipeline: { id: subject.pipelineId, name: subject.pipelineName },
      project: { id: subject.projectId },
    },
    problems: problems
      .filter(({ isMissing }) => !isMissing || trigger.kind === "manual")
      .map(({ name, message }) => ({ code: "invalid-input", pointer: toPointer(["variables", name]), message })),
  };
}
