/** The revisions of a pipeline's definition: listed, read, compared and restored. */
import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { asId, isAdHocRevision, type PipelineId, type RevisionId } from "../../domain/ids.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import type { Caller } from "../identity/access.ts";
import { listFields } from "../lists.ts";
import type { WithPrecondition } from "../preconditions.ts";
import { reachPipeline } from "../reaching.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { CatalogueContext } from "./context.ts";
import { saveSpec } from "./definitions.ts";
import { branchOfRef, pullRequestView } from "./revision-place.ts";
import { PullRequestShape, saveBody, SavedSpecShape, type SpecView } from "./spec-shapes.ts";
import { askingFor, type Asking } from "./plugin-lookup.ts";
import { requireSpec } from "./required-definition.ts";

/** Lines that may be removed and added in a comparison; the work grows with the square of it. */
const MAX_CHANGED_LINES = 1_000;

export const listRevisionsQuery = z.strictObject({
  pageSize: listFields.pageSize,
  /** `next` of the page before. */
  after: z.string().max(200).optional(),
});

export const diffQuery = z.strictObject({
  /** The revision to compare with; absent: the one before. */
  against: z.string().max(200).optional(),
  /** `text`: the saved texts. `definition`: what they hold, in one way of writing, so that only meaning differs. */
  of: z.enum(["text", "definition"]).default("text"),
});

export const restoreBody = saveBody.pick({
  expectedHeadCommitSha: true,
  commitMessage: true,
  requestId: true,
  editor: true,
});

const revisionFields = () => ({
  revisionId: id<RevisionId>(),
  pipelineId: id<PipelineId>(),
  format: z.enum(["json", "yaml"]),
  commitMessage: z.string(),
  editor: z.string(),
  savedAt: time,
  isHead: z.boolean(),
  /** The first commit in which a node has seen the text; null for an inline definition. */
  commitSha: z.string().nullable(),
  /** The branch on which the commit was seen; null for one that was seen at a tag, at a ref of its host or by its id, too. */
  branch: z.string().nullable(),
  /** The pull or merge request that the text was saved as; null for none. */
  pullRequest: PullRequestShape.nullable(),
});

export const RevisionShape = shape("Revision", revisionFields);
export const RevisionDetailShape = shape("RevisionDetail", () => ({
  ...revisionFields(),
  /** Null for a text that cannot be read. */
  spec: z.unknown(),
  /** The saved text, byte for byte. */
  text: z.string(),
}));
export const RevisionsShape = fields(() => ({
  list: listOf(RevisionShape),
  pageSize: wholeNumber,
  /** `after` of the next page; null on the last one. */
  next: z.string().nullable(),
}));
export const DiffShape = shape("RevisionDiff", () => ({
  /** Null where there is no revision before: then everything is added. */
  from: id<RevisionId>().nullable(),
  to: id<RevisionId>(),
  of: z.enum(["text", "definition"]),
  /** A unified diff; empty when nothing differs. */
  diff: z.string(),
}));
export { SavedSpecShape };

export type RevisionView = z.infer<typeof RevisionShape>;

interface RevisionInput {
  readonly pipelineId: PipelineId;
  readonly revisionId: RevisionId;
}

/** Newest first. Throws `not_found`. */
export async function listRevisions(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, after, pageSize }: z.output<typeof listRevisionsQuery> & { readonly pipelineId: PipelineId },
): Promise<z.infer<typeof RevisionsShape>> {
  const { found: pipeline } = await reachPipeline(context, caller, "readPipelines", pipelineId);
  const before = after === undefined ? null : asId<RevisionId>(after);
  const { revisions, hasMore } = await context.stores.pipelines.listRevisions(pipelineId, before, pageSize);
  const list = revisions.map((revision) => view(revision, pipeline));
  return { list, pageSize, next: hasMore ? list.at(-1)!.revisionId : null };
}

/** Throws `not_found`. */
export async function getRevision(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, revisionId }: RevisionInput,
): Promise<z.infer<typeof RevisionDetailShape>> {
  const { user, found: pipeline } = await reachPipeline(context, caller, "readPipelines", pipelineId);
  const revision = await requireRevision(context, pipelineId, revisionId);
  const { work, caller: asker } = askingFor(context, user.userId);
  const { text, format } = revision;
  return { ...view(revision, pipeline), spec: await work.spec(asker, { text, format }), text };
}

/**
 * Throws `not_found`, `too_large` for revisions that differ in more than {@link MAX_CHANGED_LINES} lines, and
 * `invalid_definition` where the definitions are compared and a text cannot be read.
 */
export async function diffRevisions(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, revisionId, against, of }: RevisionInput & z.output<typeof diffQuery>,
): Promise<z.infer<typeof DiffShape>> {
  const { user } = await reachPipeline(context, caller, "readPipelines", pipelineId);
  const to = await requireRevision(context, pipelineId, revisionId);
  const from =
    against === undefined
      ? (await context.stores.pipelines.listRevisions(pipelineId, revisionId, 1)).revisions[0]
      : await requireRevision(context, pipelineId, asId<RevisionId>(against));
  const asking = askingFor(context, user.userId);
  const [before, after] = [from === undefined ? "" : await textOf(asking, from, of), await textOf(asking, to, of)];
  const fromId = from?.revisionId ?? null;
  const diff = before === after ? "" : unified(fromId, before, revisionId, after);
  return { from: fromId, to: revisionId, of, diff };
}

/**
 * Saves the definition of an earlier revision as a new one, with the same text. Throws as {@link saveSpec} does, and
 * `not_found`.
 */
export async function restoreRevision(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, revisionId, ...input }: RevisionInput & z.output<typeof restoreBody> & WithPrecondition<SpecView>,
): Promise<z.infer<typeof SavedSpecShape>> {
  const { user } = await reachPipeline(context, caller, "writeDefinitions", pipelineId);
  const { text, format } = await requireRevision(context, pipelineId, revisionId);
  const spec = await requireSpec(askingFor(context, user.userId), { text, format });
  const commitMessage = input.commitMessage ?? `restore ${revisionId}`;
  return saveSpec(context, caller, { ...input, commitMessage, pipelineId, spec, format, layout: text });
}

async function requireRevision(
  { stores }: CatalogueContext,
  pipelineId: PipelineId,
  revisionId: RevisionId,
): Promise<Revision> {
  const revision = await stores.pipelines.findRevision(revisionId);
  if (revision?.pipelineId === pipelineId && !isAdHocRevision(revisionId)) return revision;
  throw new MillraceError("not_found", `the pipeline has no revision ${JSON.stringify(revisionId)}`);
}

async function textOf(
  asking: Asking,
  { text, format, includes }: Revision,
  of: z.output<typeof diffQuery>["of"],
): Promise<string> {
  if (of === "text") return text;
  const { work, caller } = asking;
  const resolved = includes === undefined ? null : await work.resolved(caller, { text, format, includes });
  const spec = resolved ?? (await requireSpec(asking, { text, format }));
  return work.draft(caller, { head: null, spec, format: "yaml" });
}

function unified(from: RevisionId | null, before: string, to: RevisionId, after: string): string {
  const options = {
    maxEditLength: MAX_CHANGED_LINES,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  };
  const patch = createTwoFilesPatch(from ?? "/dev/null", to, before, after, undefined, undefined, options);
  if (patch !== undefined) return patch;
  throw new MillraceError(
    "too_large",
    `the revisions differ in more than ${MAX_CHANGED_LINES} lines: read both instead`,
  );
}

function view(revision: Revision, { headRevisionId }: Pipeline): RevisionView {
  const { revisionId, pipelineId, format, message, editor, createdAt, commit, proposal } = revision;
  return {
    revisionId,
    pipelineId,
    format,
    commitMessage: message,
    editor,
    savedAt: rfc3339(createdAt),
    isHead: revisionId === headRevisionId,
    commitSha: commit?.id ?? null,
    branch: commit === undefined ? null : branchOfRef(commit.ref),
    pullRequest: proposal === undefined ? null : pullRequestView(proposal),
  };
}
