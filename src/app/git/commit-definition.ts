/** What saves of definitions in Git share: the text to commit, the commit and its push, and the words for a lost race. */
import { formatOfPath } from "../../domain/names.ts";
import { decodeTime } from "ulid";
import type { z } from "zod";
import type { Includes } from "../../definition/include/included-files.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { asId, type RevisionId, type UserId } from "../../domain/ids.ts";
import type { PushOutcome } from "../../git/commit-file.ts";
import { GitFault } from "../../git/git-fault.ts";
import { blobId, type CommitFacts, type Person } from "../../git/objects.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import { requireEqual } from "../catalogue/draft.ts";
import { type Asking, checkWithPlugins } from "../catalogue/plugin-lookup.ts";
import { requireKnown } from "../catalogue/required-definition.ts";
import type { saveBody, SpecView } from "../catalogue/spec-shapes.ts";
import type { UserCaller } from "../identity/access.ts";
import { findPipeline } from "../lookups.ts";
import type { WithPrecondition } from "../preconditions.ts";
import type { GitContext } from "./context.ts";
import { commitOf, type DefinitionAt, definitionAt } from "./definition-at.ts";
import { malformed, withGit } from "./git-problems.ts";
import { includesAt } from "./includes.ts";
import { changeOfOther } from "./other-change.ts";
import type { OpenRepository } from "./repository.ts";
import { viewInGit } from "./spec-view.ts";

/** Begins the line of a commit's message that names its revision: a save that was cut off finds its commit by it. */
const TRAILER = "Millrace-Revision: ";

export interface Saving {
  readonly user: UserCaller;
  readonly asking: Asking;
  readonly pipeline: Pipeline;
  readonly editor: string;
}

export type SaveInput = z.output<typeof saveBody> & WithPrecondition<SpecView>;

/** The text and the includes of a definition that was found at a commit. */
export function draftedOf(revision: Revision | null): Drafted {
  return { content: revision?.text ?? "", includes: revision?.includes };
}

/** What the branch has now. */
export interface Base {
  /** Null for a repository without any commit. */
  readonly head: string | null;
  readonly found: DefinitionAt | null;
}

export function requireFormat({ pipelineFilePath }: Pipeline, format: "json" | "yaml"): void {
  const needed = formatOfPath(pipelineFilePath);
  if (format !== needed) throw malformed("/format", `must be ${needed}, as the file ${pipelineFilePath} is`);
}

export async function requireMatch(
  context: GitContext,
  { asking, pipeline }: Saving,
  { found }: Base,
  match: SaveInput["match"],
): Promise<void> {
  if (match === undefined) return;
  if (found?.revision == null) {
    throw new MillraceError("precondition_failed", "the branch has no definition yet: save without If-Match");
  }
  match(await viewInGit(context, asking, pipeline, found));
}

/** What a branch has. Throws `git_refused` when it does not exist, unless the repository is empty. */
export async function readBase(
  context: GitContext,
  pipeline: Pipeline,
  { engine, repository }: OpenRepository,
  branch: string,
): Promise<Base> {
  try {
    const current = await findPipeline(context, pipeline.pipelineId);
    const { headRevisionId, headCommit } = current;
    const seen = { ...pipeline, headRevisionId, ...(headCommit !== undefined && { headCommit }) };
    const found = await definitionAt(context, seen, { kind: "branch", name: branch });
    return { head: found.commit.id, found };
  } catch (error) {
    const isMissing = error instanceof MillraceError && (error.cause as GitFault | undefined)?.kind === "noRef";
    // The first commit of a repository makes the branch.
    if (isMissing && (await withGit(() => engine.isEmpty(repository)))) return { head: null, found: null };
    throw error;
  }
}

/** A valid text to commit, with what it includes at the commit below it. */
export interface Drafted {
  readonly content: string;
  readonly includes: Includes | undefined;
}

export async function draft(
  context: GitContext,
  { asking, pipeline }: Saving,
  opened: OpenRepository,
  { head, found }: Base,
  { spec, format, layout }: z.output<typeof saveBody>,
): Promise<Drafted> {
  const { work, caller } = asking;
  const text = layout ?? (await work.draft(caller, { head: found?.revision?.text ?? null, spec, format }));
  const includes = await includesAt(context, opened, head, { path: pipeline.pipelineFilePath, text });
  requireKnown(await checkWithPlugins(context, asking, pipeline.projectId, { text, format, includes }));
  if (layout !== undefined) await requireEqual(asking, layout, { spec, format });
  return { content: text, includes };
}

export interface Content {
  readonly branch: string;
  /** The commit that the branch must be at; null for one that must not exist. */
  readonly parent: string | null;
  /** The commit that a branch begins at that does not exist yet. */
  readonly start?: string;
  readonly content: string;
  readonly message: string;
  readonly revisionId: RevisionId;
}

/** The message of a save, for people. */
export function subjectOf({ name }: Pick<Pipeline, "name">, message: string): string {
  return message.trim() === "" ? `Save the definition of ${name}` : message.trim();
}

/** The pushed commit; undefined when another push came first. The commit follows from the revision, so a repeat makes the same. */
export async function pushDefinition(
  context: GitContext,
  { user, pipeline, editor }: Saving,
  opened: OpenRepository,
  { branch, parent, start, content, message, revisionId }: Content,
): Promise<CommitFacts | undefined> {
  const { engine, repository } = opened;
  const { pipelineFilePath: path } = pipeline;
  const subject = subjectOf(pipeline, message);
  const author = await authorOf(context, user, editor);
  const at = decodeTime(revisionId.slice(revisionId.indexOf("_") + 1));
  const committer = context.git!.committer;
  const full = `${subject}\n\n${TRAILER}${revisionId}`;
  let outcome: PushOutcome;
  try {
    const commit = { branch, parent, ...(start && { start }), path, content, message: full, author, committer, at };
    outcome = await engine.commitFile(repository, commit);
  } catch (error) {
    return afterFault(opened, branch, revisionId, error);
  }
  switch (outcome.outcome) {
    case "raced":
      return undefined;
    case "refused":
      throw refusedBy(branch, outcome.words);
    case "pushed": {
      const first = start ?? parent;
      const parents = first === null ? [] : [first];
      return { id: outcome.commit, parents, author, authoredAt: at, committer, committedAt: at, message: full };
    }
  }
}

/** The commit of a push whose answer was lost. Rethrows the fault when the branch does not have it. */
async function afterFault(
  opened: OpenRepository,
  branch: string,
  revisionId: RevisionId,
  fault: unknown,
): Promise<CommitFacts> {
  if (fault instanceof GitFault && (fault.kind === "cutOff" || fault.kind === "timedOut")) {
    const own = await findOwn(opened, branch, revisionId).catch(() => null);
    if (own === null) {
      const message =
        "the server broke off during the push, and it is not known whether the commit was made: repeat the call with the same `requestId`";
      throw new MillraceError("unavailable", message, { cause: fault, retryAfterSeconds: 10 });
    }
    if (own !== undefined) return own;
  }
  return withGit(() => Promise.reject(fault as Error));
}

function refusedBy(branch: string, words: string): MillraceError {
  const message = `the server refuses the push to ${branch}: ${words}`;
  const problems: Problem[] = [{ code: "git_protected", pointer: "/defaultBranch", message: words }];
  return new MillraceError("git_refused", message, { problems });
}

/** The editor as a person of Git. The address of a user who has none is one that can receive nothing. */
async function authorOf({ stores }: GitContext, user: UserCaller, editor: string): Promise<Person> {
  const isCaller = editor === user.name || editor === user.userId;
  const found = isCaller ? await stores.identity.findUser(user.userId) : await userOf(stores, editor);
  const name = found?.name ?? (isCaller ? user.name : editor);
  const local = (found?.userId ?? name).replaceAll(/[^\w.-]/g, "_");
  return { name, email: found?.email ?? `${local}@users.invalid` };
}

function userOf({ identity }: GitContext["stores"], editor: string) {
  return editor.startsWith("usr_") ? identity.findUser(asId<UserId>(editor)) : identity.findUserByName(editor);
}

export function findOwn(
  { engine, repository }: OpenRepository,
  branch: string,
  revisionId: RevisionId,
): Promise<CommitFacts | undefined> {
  return withGit(() => engine.findCommit(repository, branch, `${TRAILER}${revisionId}`));
}

export async function headMoved(
  opened: OpenRepository,
  pipeline: Pipeline,
  { head, found, branch }: Base & { readonly branch: string },
  expected: string,
): Promise<MillraceError> {
  const current = head === null ? "the branch has no commit yet" : `the head is ${head}`;
  const message = `${current}, not ${expected}: read it, merge your change and save again`;
  const problem = { code: "head_moved", pointer: "/expectedHeadCommitSha", message: head ?? "" };
  const others =
    found === null ? [] : await changeOfOther(opened, { ...pipeline, defaultBranch: branch }, found, expected);
  return new MillraceError("head_moved", message, { problems: [problem, ...others] });
}

interface Committed {
  readonly branch: string;
  readonly revisionId: RevisionId;
  readonly commit: CommitFacts;
  readonly drafted: Drafted;
}

/** The revision of a pushed commit. */
export function revisionOf(
  { clock }: Pick<GitContext, "clock">,
  { user, pipeline, editor }: Saving,
  { branch, revisionId, commit, drafted: { content, includes } }: Committed,
): Revision {
  const { pipelineId, pipelineFilePath: path } = pipeline;
  return {
    revisionId,
    pipelineId,
    format: formatOfPath(path),
    text: content,
    message: commit.message,
    editor,
    actor: user.name,
    createdAt: clock.now(),
    commit: commitOf(commit, { ref: `refs/heads/${branch}`, path, blob: blobId(content) }),
    ...(includes !== undefined && { includes }),
  };
}
