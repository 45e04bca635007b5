/**
 * The definition that a commit holds, as a revision in the store: what a run uses is there, whatever becomes of the
 * repository. A revision stands for a text; commits with the same text share one.
 */
import { isDeepStrictEqual } from "node:util";
import type { Includes } from "../../definition/include/included-files.ts";
import { MillraceError } from "../../domain/errors.ts";
import { gitRevisionId, newId, type RevisionId } from "../../domain/ids.ts";
import { formatOfPath } from "../../domain/names.ts";
import { type GitRef, refOf } from "../../git/names.ts";
import type { CommitFacts } from "../../git/objects.ts";
import type { ReadAnswer } from "../../git/git-repositories.ts";
import type { FoundFile } from "../../git/read-files.ts";
import type { DefinitionCommit, Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import { saveHead } from "../catalogue/timetable.ts";
import { findPipeline } from "../lookups.ts";
import type { GitContext } from "./context.ts";
import { malformed, withGit, withNamedRef } from "./git-problems.ts";
import { includesAt, isLfsPointer, LFS_POINTER } from "./includes.ts";
import { openRepository, type OpenRepository } from "./repository.ts";

export interface DefinitionAt {
  readonly commit: CommitFacts;
  /** The full name of the ref; the id for a commit. */
  readonly refName: string;
  /** Null when the commit has no definition. */
  readonly revision: Revision | null;
  /** Why there is none, in words that continue `the commit ...`; empty when there is one. */
  readonly lack: string;
}

/** Each further try means that another call has stored a newer head. */
const TRIES = 5;

/** The ref that a caller names. Throws `malformed_request`. */
export function givenRef(pointer: string, text: string): GitRef {
  const ref = refOf(text);
  if (ref !== undefined) return ref;
  throw malformed(pointer, "must be the name of a branch or tag, or a full commit id");
}

export function defaultRefOf({ defaultBranch }: Pipeline): GitRef {
  return { kind: "branch", name: defaultBranch };
}

/** Reads the definition at a ref and stores it; that of the default branch becomes the head. Throws as `withGit` does. */
export async function definitionAt(context: GitContext, pipeline: Pipeline, ref: GitRef): Promise<DefinitionAt> {
  const opened = await openRepository(context, pipeline);
  const head = await headOf(context, pipeline);
  return remember(context, pipeline, opened, await readAt(opened, pipeline, ref, head), head);
}

/** Stores what was read from the repository. `head`: the revision of the pipeline's head, whose content was known. */
export async function remember(
  context: GitContext,
  pipeline: Pipeline,
  opened: OpenRepository,
  answer: ReadAnswer,
  head?: Revision,
): Promise<DefinitionAt> {
  const { commit, refName, file } = answer;
  const lack = lackOf(file, pipeline);
  if (lack !== "") return { commit, refName, revision: null, lack };
  const read = await withIncludes(context, pipeline, opened, answer, head);
  const revision =
    refName === `refs/heads/${pipeline.defaultBranch}`
      ? await makeHead(context, pipeline, head, read)
      : await keep(context, pipeline, head, read);
  return { commit, refName, revision, lack };
}

/** A definition with what it includes at its commit. */
interface Read extends ReadAnswer {
  readonly includes?: Includes | undefined;
}

async function withIncludes(
  context: GitContext,
  { pipelineFilePath: path }: Pipeline,
  opened: OpenRepository,
  answer: ReadAnswer,
  head: Revision | undefined,
): Promise<Read> {
  const { file, commit } = answer;
  if (file.kind !== "file") return answer;
  const includes = await includesAt(context, opened, commit.id, { path, text: file.content.toString("utf8") });
  if (includes === undefined) return answer;
  const read = { ...answer, includes };
  return head !== undefined && isOf(head, read) ? { ...answer, file: { kind: "known", blob: file.blob } } : read;
}

/** Whether a revision has the same text, and includes the same. */
function isOf({ commit, includes }: Revision, { file, includes: found }: Read & { readonly file: FoundFile }): boolean {
  return file.kind === "file" && commit?.blob === file.blob && isDeepStrictEqual(includes, found);
}

/** {@link definitionAt} where a definition is needed. Throws `conflict` without one. */
export async function requireDefinitionAt(
  context: GitContext,
  pipeline: Pipeline,
  ref: GitRef,
): Promise<DefinitionAt & { readonly revision: Revision }> {
  const { revision, ...found } = await definitionAt(context, pipeline, ref);
  if (revision !== null) return { ...found, revision };
  throw new MillraceError("conflict", `commit ${found.commit.id} ${found.lack}`);
}

async function headOf({ stores }: GitContext, { headRevisionId }: Pipeline): Promise<Revision | undefined> {
  return headRevisionId === null ? undefined : stores.pipelines.findRevision(headRevisionId);
}

function readAt(
  { engine, repository }: OpenRepository,
  { pipelineFilePath: path, defaultBranch }: Pipeline,
  ref: GitRef,
  head: Revision | undefined,
): Promise<ReadAnswer> {
  // What a text includes may have changed where the text has not.
  const isKnown = head?.commit?.path === path && head.includes === undefined;
  const knownBlob = isKnown ? head.commit.blob : undefined;
  const isDefault = ref.kind === "branch" && ref.name === defaultBranch;
  return (isDefault ? withGit : withNamedRef)(() => engine.read(repository, { ref, path, knownBlob }));
}

/** Why a file is no definition; empty when it may be one. */
export function lackOf(file: FoundFile, { pipelineFilePath: path }: Pick<Pipeline, "pipelineFilePath">): string {
  switch (file.kind) {
    case "known":
      return "";
    case "file":
      if (isLfsPointer(file.content)) return `has at ${path} ${LFS_POINTER}`;
      return isText(file.content) ? "" : `has at ${path} no text in UTF-8: save it in UTF-8`;
    case "missing":
      return `has no file ${path}: save a definition, or correct \`pipelineFilePath\``;
    case "symlink":
      return `has at ${path} a symbolic link, which is not followed: name the file itself as \`pipelineFilePath\``;
    case "folder":
    case "submodule":
      return `has at ${path} a ${file.kind}: name a file as \`pipelineFilePath\``;
  }
}

function isText(content: Buffer): boolean {
  return Buffer.from(content.toString("utf8")).equals(content) && !content.includes(0);
}

/** The revision of the text that was read, as the head of the pipeline. */
async function makeHead(
  context: GitContext,
  pipeline: Pipeline,
  head: Revision | undefined,
  answer: Read,
): Promise<Revision> {
  const { pipelines } = context.stores;
  const { pipelineId } = pipeline;
  const { commit, file } = answer;
  if (file.kind === "known") {
    if (pipeline.headCommit !== commit.id) await pipelines.seeHeadCommit(pipelineId, head!.revisionId, commit.id);
    return head!;
  }
  const fresh = revisionOf(context, pipeline, newId("rev"), answer);
  let expected: RevisionId | null = pipeline.headRevisionId;
  for (let tries = 0; tries < TRIES; tries++) {
    const outcome = await saveHead(context, fresh, expected);
    if (outcome === "saved") return fresh;
    const moved = await findPipeline(context, pipelineId);
    const newer = await headOf(context, moved);
    // Another call has read the same.
    if (newer?.commit?.path === fresh.commit!.path && isOf(newer, answer)) return newer;
    expected = moved.headRevisionId;
  }
  return keep(context, pipeline, undefined, answer);
}

/** The revision of the text that was read, beside the head. */
async function keep(
  context: GitContext,
  pipeline: Pipeline,
  head: Revision | undefined,
  answer: Read,
): Promise<Revision> {
  if (answer.file.kind === "known") return head!;
  const { pipelines } = context.stores;
  const blob = answer.file.kind === "file" ? answer.file.blob : "";
  const revisionId = gitRevisionId(pipeline.pipelineId, pipeline.pipelineFilePath, blob, answer.includes);
  const stored = await pipelines.findRevision(revisionId);
  if (stored !== undefined) return stored;
  const revision = revisionOf(context, pipeline, revisionId, answer);
  await pipelines.keepRevision(revision);
  return revision;
}

function revisionOf(
  { clock }: Pick<GitContext, "clock">,
  { pipelineId, pipelineFilePath }: Pipeline,
  revisionId: RevisionId,
  { commit, refName, file, includes }: Read,
): Revision {
  if (file.kind !== "file") throw new Error("there is no file");
  return {
    revisionId,
    pipelineId,
    format: formatOfPath(pipelineFilePath),
    text: file.content.toString("utf8"),
    message: commit.message,
    editor: commit.author.name,
    actor: commit.committer.name,
    createdAt: clock.now(),
    commit: commitOf(commit, { ref: refName, path: pipelineFilePath, blob: file.blob }),
    ...(includes !== undefined && { includes }),
  };
}

export function commitOf(
  { id, author, authoredAt, committedAt }: CommitFacts,
  place: Pick<DefinitionCommit, "ref" | "path" | "blob">,
): DefinitionCommit {
  return { id, ...place, author, authoredAt, committedAt };
}
