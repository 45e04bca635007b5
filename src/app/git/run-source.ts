/** Which definition a new run takes, and of which commit. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import type { RevisionId } from "../../domain/ids.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { type GitRef, isRefName } from "../../git/names.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { type ActingUser, mayAlso } from "../identity/access.ts";
import { USER_OPERATIONS } from "../identity/operations.ts";
import type { GitContext } from "./context.ts";
import { givenRef, requireDefinitionAt } from "./definition-at.ts";
import { malformed, withGit } from "./git-problems.ts";
import { isInGit, openRepository } from "./repository.ts";

/** At most one of `branch` and `ref`; `commit` may come with one of them, which then only names it. */
export const sourceFields = {
  /** A branch, a tag, a full name such as `refs/pull/1/head`, or a full commit id. */
  ref: z.string().min(1).max(1_000).optional(),
  branch: z.string().min(1).max(255).optional(),
  commit: z.string().min(1).max(64).optional(),
};

const bodyOfSource = z.strictObject(sourceFields);
type GivenSource = z.output<typeof bodyOfSource>;

export interface RunSource {
  readonly revisionId: RevisionId;
  /** Of a definition in Git; else the revision. */
  readonly commitSha: string;
  /** The full name of the ref in Git; the commit for one that was named by its id. Empty for an inline definition. */
  readonly refName: string;
}

/** The value of `trigger.ref`: what the trigger names, else the variable `ref`, else the default branch of the pipeline. */
export function refOfTrigger(
  { ref, branch }: GivenSource,
  variables: Pairs<string>,
  { defaultBranch }: Pick<Pipeline, "defaultBranch">,
): string {
  return ref ?? branch ?? variables.find(([name]) => name === "ref")?.[1] ?? defaultBranch;
}

/**
 * Finds the definition, which is stored then. Throws `conflict` without one, `malformed_request`, and for a definition in
 * Git as `withGit` does.
 */
export async function findRunSource(
  context: GitContext,
  pipeline: Pipeline,
  given: GivenSource,
  variables: Pairs<string>,
): Promise<RunSource> {
  if (!isInGit(pipeline)) return inlineSource(pipeline, given);
  const ref = refOfSource(pipeline, given, variables);
  const { revision, commit, refName } = await requireDefinitionAt(context, pipeline, ref);
  return { revisionId: revision.revisionId, commitSha: commit.id, refName };
}

/** What someone with the right to push has put on a branch or tag. */
const OWN_REF = /^refs\/(?:heads|tags)\//;

/**
 * Throws `forbidden` for a source that is not known to come from someone who may push to the repository, unless the user may
 * write definitions. Hosts hand out the commits of forks, too: as `refs/pull/...`, and by their ids.
 */
export async function requireTrustedSource(
  context: GitContext,
  user: ActingUser,
  pipeline: Pipeline,
  { ref, branch }: GivenSource,
  { refName, commitSha }: RunSource,
): Promise<void> {
  if (!isInGit(pipeline) || OWN_REF.test(refName) || mayAlso(user, "writeDefinitions")) return;
  const named =
    branch ?? (ref !== undefined && !FULL_COMMIT.test(ref) && isRefName(ref) ? ref : pipeline.defaultBranch);
  const name = named.replace(/^refs\/heads\//, "");
  if (FULL_COMMIT.test(refName)) {
    const { engine, repository } = await openRepository(context, pipeline);
    if (await withGit(() => engine.isOnBranch(repository, name, commitSha))) return;
  }
  const what = FULL_COMMIT.test(refName)
    ? `commit ${commitSha} is not among the last ones of branch ${name}`
    : `${refName} is no branch or tag`;
  throw new MillraceError(
    "forbidden",
    `${what}, so anyone may have written its definition: running it needs the right to save definitions, which the role ${USER_OPERATIONS.writeDefinitions.role} has`,
  );
}

function inlineSource({ headRevisionId }: Pipeline, { branch, commit }: GivenSource): RunSource {
  for (const [field, value] of Object.entries({ branch, commit })) {
    if (value !== undefined) throw malformed(`/${field}`, "is of definitions in Git, and this one is inline");
  }
  if (headRevisionId !== null) return { revisionId: headRevisionId, commitSha: headRevisionId, refName: "" };
  throw new MillraceError("conflict", "the pipeline has no definition: save one with POST .../spec/save first");
}

function refOfSource(pipeline: Pipeline, { ref, branch, commit }: GivenSource, variables: Pairs<string>): GitRef {
  if (ref !== undefined && branch !== undefined) throw malformed("/branch", "excludes `ref`: give one of them");
  if (branch !== undefined && !isRefName(branch)) throw malformed("/branch", "must be the name of a branch");
  if (commit !== undefined) {
    const id = commit.toLowerCase();
    if (!FULL_COMMIT.test(id)) throw malformed("/commit", "must be a full commit id, 40 hexadecimal digits");
    return { kind: "commit", id };
  }
  if (branch !== undefined) return { kind: "branch", name: branch };
  if (ref !== undefined) return givenRef("/ref", ref);
  const variable = variables.find(([name]) => name === "ref")?.[1];
  return variable === undefined
    ? { kind: "branch", name: pipeline.defaultBranch }
    : givenRef("/variables/ref", variable);
}
