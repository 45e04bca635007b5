/** The contexts that expressions read and that are known when a run is planned. */
import type { OwnRepository } from "./checkout-args.ts";
import type { GivenUpload } from "../domain/artifacts.ts";
import type { DefinedJob, Definition } from "../definition/definition.ts";
import { applyInputs } from "../definition/inputs.ts";
import { toPointer } from "../domain/json-pointer.ts";
import type { Problem } from "../domain/errors.ts";
import type { PipelineId, ProjectId } from "../domain/ids.ts";
import {
  type AgentSelector,
  NO_TRUST_DEMAND,
  selectorOfContainers,
  selectorUnder,
  type TrustDemand,
} from "../domain/labels.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { JobSpec, Scalar } from "../domain/plan.ts";
import type { PluginLookup } from "../domain/plugins.ts";
import type { Json } from "../expressions/context-data.ts";
import { containmentOf } from "./plan-containers.ts";

/** What started the run. */
export interface TriggerContext {
  readonly kind: "manual" | "cron" | "event";
  readonly ref: string;
  /** The data of the trigger. Expressions read its fields as fields of `trigger`, besides `kind`, `ref`, `payload` and `uploads`. */
  readonly payload: Readonly<Record<string, Json>>;
  /** Fields of `trigger` that go before those of the payload; absent without any. */
  readonly fields?: Readonly<Record<string, Json>>;
  /** The uploads that the trigger gives, by name; absent without any. */
  readonly uploads?: Pairs<GivenUpload>;
}

/** What a plan or a dry run is made of. */
export interface Subject {
  readonly definition: Definition;
  readonly trigger: TriggerContext;
  /** The variables of the tenant and the project, which those of the definition override. */
  readonly inherited?: Pairs<string>;
  /** Override the variables of the definition. */
  readonly variables: Pairs<string>;
  readonly pipelineId: PipelineId;
  readonly pipelineName: string;
  readonly projectId: ProjectId;
  /** The repository of the pipeline; empty when it has none, null when it is not known. */
  readonly repoUrl: string | null;
  /** Of a definition in Git: the commit of the run, and the secret that opens the repository. */
  readonly inGit?: Pick<OwnRepository, "commit" | "credential">;
  /** Absent when the registry is not known: plugins are then neither checked nor pinned. */
  readonly plugins?: PluginLookup;
  /** The largest snapshot of a run that the store holds, bytes; null or absent for no bound. */
  readonly snapshotBytes?: number | null;
  /** What the project demands of agents; absent for nothing. */
  readonly trustDemand?: TrustDemand;
  /** True: the project refuses steps that would run on an agent itself. */
  readonly demandsContainers?: boolean;
}

export interface PlanContexts {
  /** All known contexts except `run` and `matrix`. */
  readonly contexts: Readonly<Record<string, Json>>;
  /** Inputs that are missing or have a wrong type; their pointers are into the body of a trigger. */
  readonly problems: readonly Problem[];
}

/** The values of the contexts. Only a manual trigger has to give the required inputs. */
export function planContexts(subject: Subject): PlanContexts {
  const { definition, trigger, variables, inherited = [] } = subject;
  const given = new Map<string, Scalar>(variables);
  const { values, problems } = applyInputs(definition.inputs, given);
  return {
    contexts: {
      trigger: triggerValues(trigger),
      variables: Object.fromEntries([...inherited, ...definition.variables, ...variables, ...values]),
      pipeline: { id: subject.pipelineId, name: subject.pipelineName },
      project: { id: subject.projectId },
    },
    problems: problems
      .filter(({ isMissing }) => !isMissing || trigger.kind === "manual")
      .map(({ name, message }) => ({ code: "invalid-input", pointer: toPointer(["variables", name]), message })),
  };
}

/** What expressions read as `trigger`. */
export function triggerValues({ kind, ref, payload, fields, uploads }: TriggerContext): Readonly<Record<string, Json>> {
  return {
    ...payload,
    ...fields,
    payload,
    kind,
    ref,
    ...(uploads && { uploads: Object.fromEntries(uploads.map(([name, one]) => [name, { ...one }])) }),
  };
}

/** The texts of the trigger that the snapshot of a run keeps, by their names. */
export function keptTexts({ variables, inherited = [], trigger: { uploads = [] } }: Subject): Pairs<string> {
  return [...variables, ...inherited, ...uploads.map(([name, one]) => [name, JSON.stringify(one)] as const)];
}

/** The selector of a planned job: the one that its definition has, under the demand of its project. */
export function plannedSelector(
  { trustDemand = NO_TRUST_DEMAND }: Pick<Subject, "trustDemand">,
  { selector, target }: Pick<DefinedJob, "selector" | "target">,
  spec: Pick<JobSpec, "steps" | "permissions" | "container" | "services">,
): AgentSelector {
  const { steps, permissions } = spec;
  // The tokens of a job are secrets, too.
  const hasSecrets = permissions !== undefined || steps.some(({ secrets }) => secrets.length > 0);
  return selectorUnder(trustDemand, selectorOfContainers(selector, containmentOf(spec)), {
    hasSecrets,
    hasProtectedTarget: target?.protected === true,
  });
}
