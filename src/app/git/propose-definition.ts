/** Proposes a definition in Git: one commit on a branch of its own, with a pull request for the target branch. */
import { formatOfPath } from "../../domain/names.ts";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, newId, type PipelineId, type RevisionId } from "../../domain/ids.ts";
import { InTurn } from "../../domain/work/in-turn.ts";
import type { GitRepositories } from "../../git/git-repositories.ts";
import type { CommitFacts } from "../../git/objects.ts";
import type { Proposal } from "../../providers/provider.ts";
import type { Pipeline, ProposedIn } from "../../stores/ports/pipelines.ts";
import { pullRequestView } from "../catalogue/revision-place.ts";
import type { SaveView } from "../catalogue/spec-shapes.ts";
import { claimRequest, type IdentifiedRequest, peekRequest } from "../request-ids.ts";
import {
  type Base,
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
  subjectOf,
} from "./commit-definition.ts";
import type { GitContext } from "./context.ts";
import { definitionAt } from "./definition-at.ts";
import { withGit } from "./git-problems.ts";
import { openProviderOf } from "./provider-access.ts";
import { branchOf, giveUpClaim, placeFor, prefixOf, type ProposalPlace, type ProposalsOf } from "./proposal-place.ts";
import { openRepository } from "./repository.ts";

/** For how long a save starts again because another push moved the branch: a call is answered within 30 s. */
const SAVE_WITHIN_MS = 12_000;
const MAX_WAITING = 50;
const MAX_TITLE_CHARS = 200;

/** Proposals of one pipeline are made in turn on an edge, so that they meet those of other edges only. */
const proposals = new WeakMap<GitRepositories, InTurn<PipelineId>>();

/** A revision to come, or the answer to a save that left everything as it was, as JSON. */
type Claim = RevisionId | `{${string}`;

/**
 * Answers the commit with its pull request. An editor's open pull request for the file gets a further commit. A save that
 * changes nothing opens none. Throws as `saveInGit` does, and `conflict` for a repository without a commit. A repeat of a
 * `requestId` answers as the first call did, and finishes what that call has begun.
 */
export function proposeInGit(context: GitContext, saving: Saving, input: SaveInput): Promise<SaveView> {
  const { git } = context;
  const work = () => propose(context, saving, input);
  return git === undefined ? work() : turnsOf(git.repositories).run(saving.pipeline.pipelineId, work);
}

function turnsOf(repositories: GitRepositories): InTurn<PipelineId> {
  let turns = proposals.get(repositories);
  if (turns === undefined) proposals.set(repositories, (turns = new InTurn(MAX_WAITING)));
  return turns;
}

type Proposing = Saving & ProposalsOf;

async function propose(context: GitContext, saving: Saving, { match, ...input }: SaveInput): Promise<SaveView> {
  const { user, pipeline, editor } = saving;
  requireFormat(pipeline, input.format);
  const opened = await openRepository(context, pipeline);
  const provider = await openProviderOf(context, pipeline);
  const target = targetOf(pipeline);
  const proposing = { ...saving, opened, provider, target, prefix: prefixOf(pipeline, editor, target) };
  const request: Omit<IdentifiedRequest<Claim>, "freshId"> = {
    caller: user,
    scope: `save/${pipeline.pipelineId}`,
    requestId: input.requestId,
    body: input,
  };
  const earlier = await peekRequest<Claim>(context, request);
  const done = earlier === undefined ? undefined : await answerOfEarlier(context, proposing, earlier, input);
  if (done !== undefined) return done;

  const expected = input.expectedHeadCommitSha ?? "";
  const endsAt = context.clock.monotonic() + SAVE_WITHIN_MS;
  do {
    const base = await readBase(context, pipeline, opened, target);
    if (base.head === null) throw emptyRepository();
    const place = await placeFor(context, pipeline, proposing);
    const onto = place.exists ? await readBase(context, pipeline, opened, place.branch) : base;
    if (expected !== "" && expected !== base.head && expected !== onto.head) {
      throw await headMoved(opened, pipeline, { ...base, branch: target }, expected);
    }
    await requireMatch(context, saving, base, match);
    const drafted = await draft(context, saving, opened, onto, input);
    const { content } = drafted;
    const open = () => openProposal(proposing, place.branch, input.commitMessage);
    const isThere = place.exists && onto.found?.revision?.text === content;
    // The call that pushed the text was cut off before it opened the proposal.
    const shown = isThere && place.open === null ? { ...place, open: await open() } : place;
    const unchanged = unchangedAnswer(pipeline, target, { onto, place: shown, content });
    const own = place.claim?.isNew === true ? place.claim.id : newId("prp");
    const freshId = (): Claim => (unchanged === null ? own : (JSON.stringify(unchanged) as Claim));
    const { id: claim } = await claimRequest<Claim>(context, { ...request, freshId });
    if (claim.startsWith("{")) {
      user.trail?.changedNothing();
      return JSON.parse(claim) as SaveView;
    }
    const revisionId = asId<RevisionId>(claim);
    const { branch } = place;
    const commit = await pushDefinition(context, saving, opened, {
      branch,
      ...(place.exists ? { parent: onto.head } : { parent: null, start: base.head }),
      content,
      message: input.commitMessage ?? "",
      revisionId,
    });
    if (commit === undefined) {
      // A call at another edge has pushed to the branch: it may be the same call.
      const other = await answerOfEarlier(context, proposing, claim, input);
      if (other !== undefined) return other;
      continue;
    }
    const made = place.open ?? (await open());
    if (place.claim !== undefined) await giveUpClaim(context, pipeline, proposing.prefix, place.claim);
    return store(context, proposing, { revisionId, commit, drafted, proposal: { ...made, branch } });
  } while (context.clock.monotonic() < endsAt);
  throw new MillraceError("unavailable", "other users push to this branch all the time: try again");
}

/** The branch that proposals of a pipeline are for. */
export function targetOf({ prTargetBranch, defaultBranch }: Pipeline): string {
  return prTargetBranch === "" ? defaultBranch : prTargetBranch;
}

function emptyRepository(): MillraceError {
  return new MillraceError(
    "conflict",
    "the repository has no commit yet, and a pull request needs a branch to go to: save once with the `saveMode` `direct`",
  );
}

function openProposal(
  { provider, pipeline, target, editor }: Proposing,
  branch: string,
  message = "",
): Promise<Proposal> {
  const [title = "", ...rest] = subjectOf(pipeline, message).split("\n");
  const text = rest.join("\n").trim();
  const origin = `Proposed by ${editor.replaceAll(/[^\p{L}\p{N} ._-]/gu, "")} with millrace.`;
  const body = text === "" ? origin : `${text}\n\n${origin}`;
  return withGit(() => provider.propose({ branch, target, title: title.slice(0, MAX_TITLE_CHARS), body }));
}

/** The answer to a repeat. Undefined while the first call has not pushed its commit. */
async function answerOfEarlier(
  context: GitContext,
  proposing: Proposing,
  claim: Claim,
  input: Omit<SaveInput, "match">,
): Promise<SaveView | undefined> {
  const { user, pipeline, opened, provider, prefix, target } = proposing;
  if (claim.startsWith("{")) {
    user.trail?.changedNothing();
    return JSON.parse(claim) as SaveView;
  }
  const revisionId = asId<RevisionId>(claim);
  const stored = await context.stores.pipelines.findRevision(revisionId);
  if (stored?.commit !== undefined && stored.proposal !== undefined) {
    user.trail?.changedNothing();
    return viewOf(pipeline, { revisionId, commit: stored.commit.id, proposal: stored.proposal });
  }
  const { engine, repository } = opened;
  const names = await withGit(() => engine.branchesFrom(repository, prefix));
  // Its own branch, or that of an older proposal which was open then.
  const own = branchOf(prefix, revisionId);
  const branch = names.includes(own) ? own : names.at(-1);
  const commit = branch === undefined ? undefined : await findOwn(opened, branch, revisionId);
  if (branch === undefined || commit === undefined) return undefined;
  const made =
    (await withGit(() => provider.find(branch, target))) ??
    (await openProposal(proposing, branch, input.commitMessage));
  const found = await definitionAt(context, pipeline, { kind: "commit", id: commit.id });
  const drafted = draftedOf(found.revision);
  return store(context, proposing, { revisionId, commit, drafted, proposal: { ...made, branch } });
}

function unchangedAnswer(
  pipeline: Pipeline,
  target: string,
  { onto, place, content }: { readonly onto: Base; readonly place: ProposalPlace; readonly content: string },
): SaveView | null {
  const revision = onto.found?.revision;
  if (revision?.text !== content || onto.head === null) return null;
  const proposal = place.open && { ...place.open, branch: place.branch, target };
  return viewOf(pipeline, { revisionId: revision.revisionId, commit: onto.head, proposal });
}

interface Stored {
  readonly revisionId: RevisionId;
  readonly commit: CommitFacts;
  readonly drafted: Drafted;
  readonly proposal: Proposal & { readonly branch: string };
}

async function store(
  context: GitContext,
  { target, ...saving }: Proposing,
  { revisionId, commit, drafted, proposal: { number, url, branch } }: Stored,
): Promise<SaveView> {
  const { user, pipeline } = saving;
  const { pipelineId, name } = pipeline;
  const proposal: ProposedIn = { number, url, branch, target };
  const revision = { ...revisionOf(context, saving, { branch, revisionId, commit, drafted }), proposal };
  const after = { revisionId, commit: commit.id, pullRequest: url };
  await recorded(user, { kind: "definition", id: pipelineId, name, before: {}, after }, () =>
    context.stores.pipelines.keepRevision(revision),
  );
  return viewOf(pipeline, { revisionId, commit: commit.id, proposal });
}

function viewOf(
  { pipelineId, pipelineFilePath }: Pipeline,
  saved: { readonly revisionId: RevisionId; readonly commit: string; readonly proposal: ProposedIn | null },
): SaveView {
  const { revisionId, commit, proposal } = saved;
  const pullRequest = proposal && pullRequestView(proposal);
  return { pipelineId, headCommitSha: commit, revisionId, format: formatOfPath(pipelineFilePath), pullRequest };
}
