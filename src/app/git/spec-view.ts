/** A definition in Git, as callers read it. */
import { MillraceError } from "../../domain/errors.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { viewOfIncludes } from "../catalogue/includes-view.ts";
import { type Asking, checkWithPlugins } from "../catalogue/plugin-lookup.ts";
import { branchOfRef } from "../catalogue/revision-place.ts";
import type { SpecView } from "../catalogue/spec-shapes.ts";
import { rfc3339 } from "../times.ts";
import type { GitContext } from "./context.ts";
import { defaultRefOf, type DefinitionAt, definitionAt, givenRef } from "./definition-at.ts";

/**
 * Reads the definition from its repository. Throws `not_found` where the commit has none, `git_refused` and `unavailable`. One
 * with errors is an answer, with its text and its problems and without its `spec`.
 */
export async function specInGit(
  context: GitContext,
  asking: Asking,
  pipeline: Pipeline,
  ref: string | undefined,
): Promise<SpecView> {
  const found = await definitionAt(
    context,
    pipeline,
    ref === undefined ? defaultRefOf(pipeline) : givenRef("/ref", ref),
  );
  return viewInGit(context, asking, pipeline, found);
}

/** Throws `not_found` where the commit has no definition. */
export async function viewInGit(
  context: GitContext,
  asking: Asking,
  { pipelineId, projectId, pipelineFilePath }: Pipeline,
  { commit, refName, revision, lack }: DefinitionAt,
): Promise<SpecView> {
  if (revision === null) throw new MillraceError("not_found", `commit ${commit.id} ${lack}`);
  const { text, format, revisionId } = revision;
  const { known, diagnostics } = await checkWithPlugins(context, asking, projectId, revision);
  return {
    pipelineId,
    // A text with errors may be one that cannot be read, or that grows without bounds when it is.
    spec: known === null ? null : await asking.work.spec(asking.caller, { text, format }),
    ...(await viewOfIncludes(asking, revision, known !== null)),
    text,
    format,
    headCommitSha: commit.id,
    revisionId,
    branch: branchOfRef(refName),
    path: pipelineFilePath,
    diagnostics,
    commitMessage: commit.message,
    editor: commit.author.name,
    savedAt: rfc3339(commit.committedAt),
  };
}
