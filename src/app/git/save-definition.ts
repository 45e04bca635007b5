/** Saves a definition in Git: one commit on top of the head, which is pushed only while the branch is there. */
import { formatOfPath } from "../../domain/names.ts";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type RevisionId } from "../../domain/ids.ts";
import type { CommitFacts } from "../../git/objects.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { SaveView } from "../catalogue/spec-shapes.ts";
import { saveHead } from "../catalogue/timetable.ts";
import { findPipeline } from "../lookups.ts";
import { claimRequest, type IdentifiedRequest, peekRequest } from "../request-ids.ts";
import {
  draft,
  type Drafted,
  draftedOf,
  findOwn,
  headMoved,
  pushDefinition,
  readBase,
  requireFormat,
  requireMatch,
  revisionOf,
  type SaveInput,
  type Saving,
} from "./commit-definition.ts";
import type { GitContext } from "./context.ts";
import { definitionAt } from "./definition-at.ts";
import { openRepository, type OpenRepository } from "./repository.ts";

/** For how long a save starts again because another push moved the branch: a call is answered within 30 s. */
const SAVE_WITHIN_MS = 15_000;
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
    const base = await readBase(context, pipeline, opened, pipeline.defaultBranch);
    if (expected !== "" && expected !== base.head)
      throw await headMoved(opened, pipeline, { ...base, branch: pipeline.defaultBranch }, expected);
    await requireMatch(context, saving, base, match);
    const drafted = await draft(context, saving, opened, base, input);
    const isUnchanged = base.head !== null && base.found?.revision?.text === drafted.content;
    const unchanged: Claim | null = isUnchanged ? `${base.found.revision.revisionId}@${base.head}` : null;
    const { id: claim } = await claimRequest(context, { ...request, freshId: () => unchanged ?? newId("rev") });
    if (unchanged !== null) {
      user.trail?.changedNothing();
      return viewOfClaim(pipeline, unchanged);
    }
    const revisionId = asId<RevisionId>(claim);
    const commit = await pushDefinition(context, saving, opened, {
      branch: pipeline.defaultBranch,
      parent: base.head,
      content: drafted.content,
      message: input.commitMessage ?? "",
      revisionId,
    });
    if (commit !== undefined) return store(context, saving, { revisionId, commit, drafted });
    if (expected !== "" || match !== undefined) {
      const moved = await readBase(context, pipeline, opened, pipeline.defaultBranch);
      const error = await headMoved(
        opened,
        pipeline,
        { ...moved, branch: pipeline.defaultBranch },
        expected === "" ? (base.head ?? "") : expected,
      );
      throw expected === "" ? new MillraceError("precondition_failed", error.message) : error;
    }
  } while (context.clock.monotonic() < endsAt);
  throw new MillraceError("unavailable", "other users push to this branch all the time: try again");
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
  const own = await findOwn(opened, pipeline.defaultBranch, revisionId);
  if (own === undefined) return undefined;
  const found = await definitionAt(context, pipeline, { kind: "commit", id: own.id });
  return store(context, saving, { revisionId, commit: own, drafted: draftedOf(found.revision) });
}

/** Stores the revision of a pushed commit, as the head unless the branch has moved on, and answers the save. */
async function store(
  context: GitContext,
  saving: Saving,
  {
    revisionId,
    commit,
    drafted,
  }: { readonly revisionId: RevisionId; readonly commit: CommitFacts; readonly drafted: Drafted },
): Promise<SaveView> {
  const { pipelines } = context.stores;
  const { user, pipeline } = saving;
  const { pipelineId, name, defaultBranch } = pipeline;
  const current = await findPipeline(context, pipelineId);
  const revision = revisionOf(context, saving, { branch: defaultBranch, revisionId, commit, drafted });
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
  return { pipelineId, headCommitSha: commit, revisionId, format: formatOfPath(pipelineFilePath), pullRequest: null };
}

/** The answer to a save that left the head as it was. */
function viewOfClaim(pipeline: Pipeline, claim: string): SaveView {
  const [revisionId = "", commit = ""] = claim.split("@");
  return viewOf(pipeline, asId<RevisionId>(revisionId), commit);
}
