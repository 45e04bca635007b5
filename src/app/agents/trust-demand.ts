/** Which jobs of a project need an agent with trusted labels, which administrators read and set. */
import { z } from "zod";
import type { ProjectId } from "../../domain/ids.ts";
import type { Project } from "../../stores/ports/pipelines.ts";
import { NO_TRUST_DEMAND, type TrustDemand } from "../../domain/labels.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { Caller } from "../identity/access.ts";
import { forgetProjectFacts } from "../project-facts.ts";
import { id, shape } from "../shapes.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { changeRecord } from "../project-record.ts";
import { reachProject } from "../reaching.ts";

/** What is absent is not demanded. */
export const trustDemandBody = z.strictObject({
  secrets: z.boolean().default(false),
  protectedTargets: z.boolean().default(false),
});

type DemandContext = Pick<AppContext, "clock" | "log"> & WithStores<"pipelines" | "rights" | "documents">;

export const TrustDemandShape = shape("TrustDemand", () => ({
  projectId: id<ProjectId>(),
  /** Jobs of which a step gets a secret. */
  secrets: z.boolean(),
  /** Jobs with a protected target. */
  protectedTargets: z.boolean(),
}));

type TrustDemandView = z.infer<typeof TrustDemandShape>;

/** Throws `not_found`. */
export async function getTrustDemand(
  context: DemandContext,
  caller: Caller,
  { projectId }: { readonly projectId: ProjectId },
): Promise<TrustDemandView> {
  const { found: project } = await reachProject(context, caller, "readTrustDemand", projectId);
  return view(project);
}

/**
 * Replaces the demand. It counts for runs that are planned, and for secrets that are handed out, from some seconds later
 * on. Throws `not_found`.
 */
export async function setTrustDemand(
  context: DemandContext,
  caller: Caller,
  {
    projectId,
    demand,
    match,
  }: { readonly projectId: ProjectId; readonly demand: TrustDemand } & WithPrecondition<TrustDemandView>,
): Promise<TrustDemandView> {
  return changeUnmoved(async () => {
    const { user, found } = await reachProject(context, caller, "writeTrustDemand", projectId);
    match?.(view(found));
    const sides = { before: { ...NO_TRUST_DEMAND, ...found.trustDemand }, after: { ...demand } };
    const change = { kind: "trustDemand", id: projectId, name: found.name, ...sides } as const;
    const expected = match && { trustDemand: found.trustDemand };
    const outcome = await changeRecord(context, user, change, { trustDemand: demand }, expected);
    if (outcome === MOVED) return MOVED;
    forgetProjectFacts(context, projectId);
    context.log.info(
      { projectId, by: user.name, userId: user.userId, demand },
      "the trust demand of a project was set",
    );
    return getTrustDemand(context, caller, { projectId });
  });
}

function view({ projectId, trustDemand }: Project): TrustDemandView {
  return { projectId, ...NO_TRUST_DEMAND, ...trustDemand };
}
