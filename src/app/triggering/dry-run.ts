/**
 * The dry run of a pipeline: the plan that a trigger would make of a definition, and the agents that could take its
 * jobs.
 */
import { isReached } from "../../domain/labels.ts";
import { z } from "zod";
import type { KnownDefinition } from "../../definition-work/definition-work.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { PipelineId } from "../../domain/ids.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { Caller } from "../identity/access.ts";
import type { TriggeringContext } from "./context.ts";
import { validateBody } from "../catalogue/spec-shapes.ts";
import { requireKnown } from "../catalogue/required-definition.ts";
import { draftOn } from "../catalogue/draft.ts";
import { includesOnBranch } from "../git/includes.ts";
import { isInGit } from "../git/repository.ts";
import { noPipeline } from "../lookups.ts";
import { reachPipeline } from "../reaching.ts";
import { readInventory } from "../agents/inventory.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { planRefused } from "./plan-refused.ts";
import { type PlanView, viewPlan } from "./plan-view.ts";
import { askingFor, type Asking, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { projectFactsOf } from "../project-facts.ts";
import { findGivenUploads } from "./given-uploads.ts";
import { triggerBody } from "./trigger.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { inGitOf } from "./create-run.ts";
import { findRunSource, refOfTrigger } from "../git/run-source.ts";
import { limitTriggerInput } from "./trigger-input.ts";

/** gRPC clients accept messages of this size by default. */
const MAX_PLAN_CHARS = 4 * 1024 * 1024;

const planFields = z.strictObject({
  /** Absent for the definition of the head. */
  spec: validateBody.shape.spec.optional(),
  format: validateBody.shape.format,
  trigger: z
    .strictObject({
      kind: z.enum(["manual", "cron", "event"]).default("manual"),
      ref: z.string().max(1_000).optional(),
      /** The fields that `${{ trigger.<field> }}` reads. */
      payload: z.record(z.string(), z.json()).default({}),
    })
    .prefault({}),
  variables: triggerBody.shape.variables,
  /** The uploads that the trigger would give, as that of a manual run. */
  uploads: triggerBody.shape.uploads,
});
export const planBody = planFields.refine(
  ({ uploads = {}, trigger }) => trigger.kind === "manual" || Object.keys(uploads).length === 0,
  {
    path: ["uploads"],
    error: "go with the trigger `manual` alone",
    when: ({ value }) => planFields.pick({ uploads: true, trigger: true }).loose().safeParse(value).success,
  },
);

/**
 * Plans a run and stores nothing. Throws `not_found`; `conflict` when the request has no `spec` and the pipeline has no
 * saved definition; `too_large`; `malformed_request` for variables that do not fit the pipeline's inputs, and for uploads
 * that cannot be given; and
 * `invalid_definition` with every problem, including problems that only the values of this trigger cause.
 */
export async function planPipeline(
  context: TriggeringContext,
  caller: Caller,
  input: z.output<typeof planBody> & { readonly pipelineId: PipelineId },
): Promise<PlanView> {
  const { user, found: pipeline } = await reachPipeline(context, caller, "validateDefinition", input.pipelineId);
  const asking = askingFor(context, user.userId);
  const { kind, ref, payload } = input.trigger;
  limitTriggerInput("variables", input.variables);
  limitTriggerInput("payload", payload);
  const variables = Object.entries(input.variables);
  const uploads = await findGivenUploads(context, pipeline.projectId, input.uploads);
  const { definition, commit } = await requestedDefinition(context, asking, pipeline, input);
  const { trustDemand, demandsContainers } = await projectFactsOf(context, pipeline.projectId);
  const outcome = await asking.work.dryRun(asking.caller, definition, {
    plugins: await pluginsForRun(context, pipeline.projectId, definition),
    input: {
      trigger: {
        kind,
        ref: refOfTrigger({ ref }, variables, pipeline),
        payload,
        ...(uploads.length > 0 && { uploads }),
      },
      variables,
      inherited: await inheritedVariables(context, pipeline.projectId),
      pipelineId: pipeline.pipelineId,
      pipelineName: pipeline.name,
      projectId: pipeline.projectId,
      repoUrl: pipeline.repoUrl,
      ...inGitOf(pipeline, commit),
      snapshotBytes: context.stores.snapshotBytes,
      trustDemand,
      demandsContainers,
    },
  });
  if (!outcome.ok) throw planRefused(outcome);
  const { projectId } = pipeline;
  const { tenantId } = await projectFactsOf(context, projectId);
  const agents = (await readInventory(context)).filter(({ reach }) => isReached(reach, { projectId, tenantId }));
  const isKnown = agents.every(({ online }) => online !== null);
  const secrets = await context.stores.secrets.find(pipeline, outcome.plan.secrets);
  const view = viewPlan(
    outcome.plan,
    isKnown ? agents.filter(({ online }) => online) : null,
    new Set(secrets.map(({ name }) => name)),
  );
  refuseLarge(view);
  return view;
}

/** Each matrix cell repeats the texts of its job: a definition of one megabyte can make a plan of a gigabyte. */
function refuseLarge({ stages }: PlanView): void {
  let chars = 0;
  for (const job of stages.flatMap(({ jobs }) => jobs)) {
    chars += JSON.stringify(job).length;
    if (chars > MAX_PLAN_CHARS) {
      throw new MillraceError("too_large", "the plan has more than 4 MB: shorten conditions, selectors or matrices");
    }
  }
}

interface Requested {
  readonly definition: KnownDefinition;
  /** Empty for a definition that is in no commit. */
  readonly commit: string;
}

async function requestedDefinition(
  context: TriggeringContext,
  asking: Asking,
  pipeline: Pipeline,
  { spec, format, trigger: { ref }, variables }: z.output<typeof planBody>,
): Promise<Requested> {
  if (spec !== undefined) {
    const { text } = await draftOn(context, asking, pipeline, { spec, format });
    const includes = await includesOnBranch(context, pipeline, { text, format });
    const definition = requireKnown(await asking.work.check(asking.caller, { text, format, includes, plugins: null }));
    return { definition, commit: pipeline.headCommit ?? "" };
  }
  const { pipelineId, headRevisionId } = pipeline;
  if (headRevisionId === null && !isInGit(pipeline)) {
    throw new MillraceError("conflict", "the pipeline has no definition: send one in `spec`, or save one first");
  }
  const source = await findRunSource(context, pipeline, { ref }, Object.entries(variables));
  const definition = await definitionOfRevision(context.stores.pipelines, asking, source.revisionId);
  if (definition === undefined) throw noPipeline(pipelineId);
  return { definition, commit: source.commitSha };
}
