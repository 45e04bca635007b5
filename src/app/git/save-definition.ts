/** Saves a definition in Git: one commit on top of the head, which is pushed only while the branch is there. */
import { decodeTime } from "ulid";
import type { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { asId, newId, type RevisionId, type UserId } from "../../domain/ids.ts";
import { GitFault } from "../../git/git-fault.ts";
import { formatOfPath } from "../../git/names.ts";
import { blobId, type CommitFacts, type Person } from "../../git/objects.ts";
import type { PushOutcome } from "../../git/commit-file.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import { requireEqual } from "../catalogue/draft.ts";
import { type Asking, checkWithPlugins } from "../catalogue/plugin-lookup.ts";
import { requireKnown } from "../catalogue/required-definition.ts";
import type { saveBody, SaveView, SpecView } from "../catalogue/spec-shapes.ts";
import { saveHead } from "../catalogue/timetable.ts";
import type { UserCaller } from "../identity/access.ts";
import { findPipeline } from "../lookups.ts";
import type { WithPrecondition } from "../preconditions.ts";
import { claimRequest, type IdentifiedRequest, peekRequest } from "../request-ids.ts";
import type { GitContext } from "./context.ts";
import { commitOf, defaultRefOf, type DefinitionAt, definitionAt } from "./definition-at.ts";
import { malformed, withGit } from "./git-problems.ts";
import { changeOfOther } from "./other-change.ts";
import { openRepository, type OpenRepository } from "./repository.ts";
import { viewInGit } from "./spec-view.ts";

/** For how long a save starts again because another push moved the branch: a call is answered within 30 s. */
const SAVE_WITHIN_MS = 15_000;
/** Begins the line of a commit's message that names its revision: a save that was cut off finds its commit by it. */
const TRAILER = "Millrace-Revision: ";

export interface Saving {
  readonly user: UserCaller;
  readonly asking: Asking;
  readonly pipeline: Pipeline;
  readonly editor: string;
}

type SaveInput = z.output<typeof saveBody> & WithPrecondition<SpecView>;

/** What the branch has now. */
interface Base {
  /** Null for a repository without any commit. */
  readonly head: string | null;
  readonly found: DefinitionAt | null;
}

/** What the first call of a `requestId` has claimed: a new revision, or the head that it left as it was. */
type Claim = RevisionId | `${RevisionId}@${string}`;

/**
 * Commits the definition to the default branch, and answers the commit. A save that changes nothing answers the head and
 * commits nothing. Throws `invalid_definition`, `malformed_request`, `head_moved` with the head and what another user changed,
 * `git_refused` with the server's words for a protected branch, `unavailable`, `precondition_failed` and
 * `request_id_reused`. A repeat of a `requestId` answers as the first call did, and finds its commit when that call was cut
 * off after the push.
 */
export async function saveInGit(
  context: GitContext,
  saving: Saving,
  { match, ...input }: SaveInput,
): Promise<SaveView> {
  const { user, pipeline } = saving;
  requireFormat(pipeline, input.format);
  const opened = await openRepository(context, pipeline);
  const request: IdentifiedRequest<Claim> = {
    caller: user,
    scope: `save/${pipeline.pipelineId}`,
    requestId: input.requestId,
    body: input,
    freshId: () => newId("rev"),
  };
  const earlier = await peekRequest<Claim>(context, request);
  const done = earlier === undefined ? undefined : await answerOfEarlier(context, saving, opened, earlier);
  if (done !== undefined) return done;

  const expected = input.expectedHeadCommitSha ?? "";
  const endsAt = context.clock.monotonic() + SAVE_WITHIN_MS;
  do {
    const base = await readBase(context, pipeline, opened);
    if (expected !== "" && expected !== base.head) throw await headMoved(opened, pipeline, base, expected);
    await requireMatch(context, saving, base, match);
    const content = await draft(context, saving, base, input);
    const isUnchanged = base.head !== null && base.found?.revision?.text === content;
    const unchanged: Claim | null = isUnchanged ? `${base.found.revision.revisionId}@${base.head}` : null;
    const { id: claim } = await claimRequest(context, { ...request, freshId: () => unchanged ?? newId("rev") });
    if (unchanged !== null) {
      user.trail?.changedNothing();
      return viewOfClaim(pipeline, unchanged);
    }
    const revisionId = asId<RevisionId>(claim);
    const commit = await push(context, saving, opened, {
      base,
      content,
      message: input.commitMessage ?? "",
      revisionId,
    });
    if (commit !== undefined) return store(context, saving, { revisionId, commit, content });
    if (expected !== "" || match !== undefined) {
      const moved = await readBase(context, pipeline, opened);
      const error = await headMoved(opened, pipeline, moved, expected === "" ? (base.head ?? "") : expected);
      throw expected === "" ? new MillraceError("precondition_failed", error.message) : error;
    }
  } while (context.clock.monotonic() < endsAt);
  throw new MillraceError("unavailable", "other users push to this branch all the time: try again");
}

function requireFormat({ pipelineFilePath }: Pipeline, format: "json" | "yaml"): void {
  const needed = formatOfPath(pipelineFilePath);
  if (format !== needed) throw malformed("/format", `must be ${needed}, as the file ${pipelineFilePath} is`);
}

/** The answer to a repeat. Undefined while the first call has not pushed its commit. */
async function answerOfEarlier(
  context: GitContext,
  saving: Saving,
  opened: OpenRepository,
  claim: Claim,
): Promise<SaveView | undefined> {
  const { user, pipeline } = saving;
  const unchanged = () => {
    user.trail?.changedNothing();
  };
  if (claim.includes("@")) {
    unchanged();
    return viewOfClaim(pipeline, claim);
  }
  const revisionId = asId<RevisionId>(claim);
  const stored = await context.stores.pipelines.findRevision(revisionId);
  if (stored?.commit !== undefined) {
    unchanged();
    return viewOf(pipeline, revisionId, stored.commit.id);
  }
  const own = await findOwn(opened, pipeline, revisionId);
  if (own === undefined) return undefined;
  const found = await definitionAt(context, pipeline, { kind: "commit", id: own.id });
  return store(context, saving, { revisionId, commit: own, content: found.revision?.text ?? "" });
}

function findOwn(
  { engine, repository }: OpenRepository,
  { defaultBranch }: Pipeline,
  revisionId: RevisionId,
): Promise<CommitFacts | undefined> {
  return withGit(() => engine.findCommit(repository, defaultBranch, `${TRAILER}${revisionId}`));
}

async function readBase(
  context: GitContext,
  pipeline: Pipeline,
  { engine, repository }: OpenRepository,
): Promise<Base> {
  try {
    const current = await findPipeline(context, pipeline.pipelineId);
    const { headRevisionId, headCommit } = current;
    const seen = { ...pipeline, headRevisionId, ...(headCommit !== undefined && { headCommit }) };
    const found = await definitionAt(context, seen, defaultRefOf(pipeline));
    return { head: found.commit.id, found };
  } catch (error) {
    const isMissing = error instanceof MillraceError && (error.cause as GitFault | undefined)?.kind === "noRef";
    // The first commit of a repository makes the branch.
    if (isMissing && (await withGit(() => engine.isEmpty(repository)))) return { head: null, found: null };
    throw error;
  }
}

async function requireMatch(
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

/** The valid text to commit. */
async function draft(
  context: GitContext,
  { asking, pipeline }: Saving,
  { found }: Base,
  { spec, format, layout }: z.output<typeof saveBody>,
): Promise<string> {
  const { work, caller } = asking;
  const text = layout ?? (await work.draft(caller, { head: found?.revision?.text ?? null, spec, format }));
  requireKnown(await checkWithPlugins(context, asking, pipeline.projectId, text, format));
  if (layout !== undefined) await requireEqual(asking, layout, { spec, format });
  return text;
}

interface Content {
  readonly base: Base;
  readonly content: string;
  readonly message: string;
  readonly revisionId: RevisionId;
}

/** The pushed commit; undefined when another push came first. The commit follows from the revision, so a repeat makes the same. */
async function push(
  context: GitContext,
  { user, pipeline, editor }: Saving,
  opened: OpenRepository,
  { base, content, message, revisionId }: Content,
): Promise<CommitFacts | undefined> {
  const { engine, repository } = opened;
  const { defaultBranch: branch, pipelineFilePath: path } = pipeline;
  const subject = message.trim() === "" ? `Save the definition of ${pipeline.name}` : message.trim();
  const author = await authorOf(context, user, editor);
  const at = decodeTime(revisionId.slice(revisionId.indexOf("_") + 1));
  const committer = context.git!.committer;
  const full = `${subject}\n\n${TRAILER}${revisionId}`;
  let outcome: PushOutcome;
  try {
    const commit = { branch, parent: base.head, path, content, message: full, author, committer, at };
    outcome = await engine.commitFile(repository, commit);
  } catch (error) {
    return afterFault(opened, pipeline, revisionId, error);
  }
  switch (outcome.outcome) {
    case "raced":
      return undefined;
    case "refused":
      throw refusedBy(branch, outcome.words);
    case "pushed": {
      const parents = base.head === null ? [] : [base.head];
      return { id: outcome.commit, parents, author, authoredAt: at, committer, committedAt: at, message: full };
    }
  }
}

/** The commit of a push whose answer was lost. Rethrows the fault when the branch does not have it. */
async function afterFault(
  opened: OpenRepository,
  pipeline: Pipeline,
  revisionId: RevisionId,
  fault: unknown,
): Promise<CommitFacts> {
  if (fault instanceof GitFault && (fault.kind === "cutOff" || fault.kind === "timedOut")) {
    const own = await findOwn(opened, pipeline, revisionId).catch(() => null);
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

/** Stores the revision of a pushed commit, as the head unless the branch has moved on, and answers the save. */
async function store(
  context: GitContext,
  { user, pipeline, editor }: Saving,
  {
    revisionId,
    commit,
    content,
  }: { readonly revisionId: RevisionId; readonly commit: CommitFacts; readonly content: string },
): Promise<SaveView> {
  const { pipelines } = context.stores;
  const { pipelineId, name, defaultBranch, pipelineFilePath } = pipeline;
  const current = await findPipeline(context, pipelineId);
  const place = { ref: `refs/heads/${defaultBranch}`, path: pipelineFilePath, blob: blobId(content) };
  const revision: Revision = {
    revisionId,
    pipelineId,
    format: formatOfPath(pipelineFilePath),
    text: content,
    message: commit.message,
    editor,
    actor: user.name,
    createdAt: context.clock.now(),
    commit: commitOf(commit, place),
  };
  const before = { revisionId: current.headRevisionId, commit: current.headCommit ?? null };
  const change = {
    kind: "definition",
    id: pipelineId,
    name,
    before,
    after: { revisionId, commit: commit.id },
  } as const;
  await recorded(user, change, async () => {
    const outcome = await saveHead(context, revision, current.headRevisionId);
    // A reader has stored what the branch has, this commit or a later one.
    if (outcome === "headMoved") await pipelines.keepRevision(revision);
  });
  return viewOf(pipeline, revisionId, commit.id);
}

function viewOf({ pipelineId, pipelineFilePath }: Pipeline, revisionId: RevisionId, commit: string): SaveView {
  return { pipelineId, headCommitSha: commit, revisionId, format: formatOfPath(pipelineFilePath) };
}

/** The answer to a save that left the head as it was. */
function viewOfClaim(pipeline: Pipeline, claim: string): SaveView {
  const [revisionId = "", commit = ""] = claim.split("@");
  return viewOf(pipeline, asId<RevisionId>(revisionId), commit);
}

async function headMoved(
  opened: OpenRepository,
  pipeline: Pipeline,
  { head, found }: Base,
  expected: string,
): Promise<MillraceError> {
  const current = head === null ? "the branch has no commit yet" : `the head is ${head}`;
  const message = `${current}, not ${expected}: read it, merge your change and save again`;
  const problem = { code: "head_moved", pointer: "/expectedHeadCommitSha", message: head ?? "" };
  const others = found === null ? [] : await changeOfOther(opened, pipeline, found, expected);
  return new MillraceError("head_moved", message, { problems: [problem, ...others] });
}
