/**
 * The definition of a pipeline: read, validated and saved. An inline definition is kept in the store alone, each saved text as
 * a revision; one in Git is left to src/app/git.
 */
import type { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import type { KnownDefinition } from "../../definition-work/definition-work.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type PipelineId, type ProjectId, type RevisionId } from "../../domain/ids.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import { type Caller, claimedIdentity, type UserCaller } from "../identity/access.ts";
import type { CatalogueContext } from "./context.ts";
import { malformed } from "../git/git-problems.ts";
import { includesOnBranch } from "../git/includes.ts";
import { isInGit } from "../git/repository.ts";
import { proposeInGit } from "../git/propose-definition.ts";
import { saveInGit } from "../git/save-definition.ts";
import { specInGit } from "../git/spec-view.ts";
import { type Draft, draftOn, type DraftSource, requireEqual } from "./draft.ts";
import { findPipeline, noPipeline } from "../lookups.ts";
import { viewOfIncludes } from "./includes-view.ts";
import { checkForPipeline } from "./earlier-images.ts";
import { knownOfRevision, rememberDefinition } from "./known-definitions.ts";
import { askingFor, type Asking, checkNaming, checkWithPlugins } from "./plugin-lookup.ts";
import { saveHead } from "./timetable.ts";
import type { Precondition, WithPrecondition } from "../preconditions.ts";
import { reachPipeline } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { requireKnown } from "./required-definition.ts";
import type { saveBody, SaveView, specQuery, SpecView, validateBody, ValidationView } from "./spec-shapes.ts";
import { rfc3339 } from "../times.ts";
import { InTurn } from "../../domain/work/in-turn.ts";

/** For how long a save starts again because another save moved the head: a call is answered within 30 s. */
const SAVE_WITHIN_MS = 20_000;
/** Saves of one pipeline on one edge that may wait for each other. */
const MAX_WAITING_SAVES = 200;
/** Saves of one pipeline are done in turn on an edge, so that a save meets another edge's saves only. */
const saves = new InTurn<PipelineId>(MAX_WAITING_SAVES);

/**
 * Throws `not_found` also for a pipeline without a definition, and `malformed_request` for a `ref` of an inline one. One in
 * Git is read from its repository, at `ref` or the default branch: throws as {@link specInGit} does.
 */
export async function getSpec(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, ref }: z.output<typeof specQuery> & { readonly pipelineId: PipelineId },
): Promise<SpecView> {
  const { user, found } = await reachPipeline(context, caller, "readPipelines", pipelineId);
  const asking = askingFor(context, user.userId);
  if (isInGit(found)) return specInGit(context, asking, found, ref);
  if (ref !== undefined) throw malformed("/ref", "is of definitions in Git, and this one is inline");
  return viewOf(context, asking, found);
}

async function viewOf(
  context: CatalogueContext,
  asking: Asking,
  { pipelineId, projectId, headRevisionId }: Pipeline,
): Promise<SpecView> {
  const revision = headRevisionId === null ? undefined : await context.stores.pipelines.findRevision(headRevisionId);
  if (revision === undefined) {
    throw new MillraceError("not_found", "the pipeline has no definition yet: save one with POST .../spec/save");
  }
  const known = await knownOfRevision(context.stores.pipelines, asking, revision.revisionId);
  return {
    pipelineId,
    spec:
      known === null ? null : await asking.work.spec(asking.caller, { text: revision.text, format: revision.format }),
    ...(await viewOfIncludes(asking, revision, known !== null)),
    text: revision.text,
    format: revision.format,
    headCommitSha: revision.revisionId,
    revisionId: revision.revisionId,
    branch: null,
    path: null,
    diagnostics: await diagnosticsOf(context, asking, projectId, revision, known),
    commitMessage: revision.message,
    editor: revision.editor,
    savedAt: rfc3339(revision.createdAt),
  };
}

/** What is wrong with an inline definition, such as one that a broken commit left behind; else what may have changed since its save. */
async function diagnosticsOf(
  context: CatalogueContext,
  asking: Asking,
  projectId: ProjectId,
  { text, format, includes }: Revision,
  known: KnownDefinition | null,
): Promise<SpecView["diagnostics"]> {
  const definition = { text, format, includes };
  if (known === null) return (await checkWithPlugins(context, asking, projectId, definition)).diagnostics;
  if (known.providers.length === 0) return [];
  const { diagnostics } = await checkNaming(context, asking, projectId, { ...known, ...definition });
  return diagnostics.filter(({ code }) => code === "no-hook");
}

/**
 * A bad definition is an answer and not an error. Positions are those in the text that a save would commit. Throws
 * `not_found`.
 */
export async function validateSpec(
  context: CatalogueContext,
  caller: Caller,
  input: z.output<typeof validateBody> & { readonly pipelineId: PipelineId },
): Promise<ValidationView> {
  const { user, found: pipeline } = await reachPipeline(context, caller, "validateDefinition", input.pipelineId);
  const asking = askingFor(context, user.userId);
  const { text } = await draftOn(context, asking, pipeline, input);
  const { format } = input;
  const includes = await includesOnBranch(context, pipeline, { text, format });
  const checked = await checkForPipeline(context, asking, pipeline, { text, format, includes });
  const { size, diagnostics } = checked;
  return { valid: size !== null, diagnostics, jobsCount: size?.jobsCount ?? 0, stepsCount: size?.stepsCount ?? 0 };
}

/**
 * Makes the definition the head. Its text is `layout`, or else that of the present head, edited where the definition
 * differs. Throws `malformed_request` for a `layout` with another value than `spec`. A save that
 * changes nothing answers the head's id and makes no revision, even with another commit message. Throws
 * `invalid_definition` with every problem, `head_moved` with the current head when `expectedHeadCommitSha` is another
 * revision, `request_id_reused`, `too_many` when too many saves of the pipeline wait, and `unavailable` when other saves
 * win every race. A repeat of a `requestId` answers
 * as the first call did, even when the head has moved on since. A definition in Git is committed, or proposed where
 * `saveMode` of the save, or else of the pipeline, says so: throws as {@link saveInGit} and {@link proposeInGit} do.
 */
export async function saveSpec(
  context: CatalogueContext,
  caller: Caller,
  { match, ...input }: z.output<typeof saveBody> & { readonly pipelineId: PipelineId } & WithPrecondition<SpecView>,
): Promise<SaveView> {
  const { pipelineId } = input;
  const { user, found: pipeline } = await reachPipeline(context, caller, "writeDefinitions", pipelineId);
  const editor = claimedIdentity(user, input.editor, "editor");
  const expected = input.expectedHeadCommitSha ?? "";
  const asking = askingFor(context, user.userId);
  if (isInGit(pipeline)) {
    const save = (input.saveMode ?? pipeline.saveMode) === "pr" ? proposeInGit : saveInGit;
    return save(context, { user, asking, pipeline, editor }, { match, ...input });
  }
  if (input.saveMode === "pr") throw malformed("/saveMode", "must be `direct`: the definition is in no repository");
  const draft = await draftOn(context, asking, pipeline, input);
  const definition = requireKnown(
    await checkWithPlugins(context, asking, pipeline.projectId, { text: draft.text, format: input.format }),
  );
  if (input.layout !== undefined) await requireEqual(asking, input.layout, input);
  const unchangedHead = draft.isHead && isExpected(expected, draft.headRevisionId) ? draft.headRevisionId : null;

  const { id: revisionId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `save/${pipelineId}`,
    requestId: input.requestId,
    body: input,
    freshId: () => unchangedHead ?? newId("rev"),
  });
  const answer: SaveView = {
    pipelineId,
    headCommitSha: revisionId,
    revisionId,
    format: input.format,
    pullRequest: null,
  };
  const unchanged = (): SaveView => {
    user.trail?.changedNothing();
    return answer;
  };
  // A repeat is answered whatever it demands: the first call has made the state that follows the demanded one.
  if (revisionId !== unchangedHead && repeated && (await wasHead(context, pipelineId, revisionId))) return unchanged();
  const demanded = match === undefined ? "" : await headAsDemanded(context, asking, pipeline, match);
  if (revisionId === unchangedHead) return unchanged();
  const save = () =>
    moveHead(
      context,
      {
        revisionId,
        pipelineId,
        format: input.format,
        message: input.commitMessage ?? "",
        editor,
        actor: user.name,
        createdAt: context.clock.now(),
      },
      { user, asking, source: input, expected: expected === "" ? demanded : expected, draft, definition },
    );
  await saves.run(pipelineId, save).catch((error: unknown) => {
    const hasMoved = error instanceof MillraceError && error.reason === "head_moved";
    throw hasMoved && demanded !== "" ? new MillraceError("precondition_failed", error.message) : error;
  });
  return answer;
}

/** The head, whose definition is as the caller demands it. Throws `precondition_failed`. */
async function headAsDemanded(
  context: CatalogueContext,
  asking: Asking,
  pipeline: Pipeline,
  match: Precondition<SpecView>,
): Promise<string> {
  if (pipeline.headRevisionId === null) {
    throw new MillraceError("precondition_failed", "the pipeline has no definition yet: save without If-Match");
  }
  match(await viewOf(context, asking, pipeline));
  return pipeline.headRevisionId;
}

/** True for a revision that is or was the head. False when a call was cut off before it made its revision the head. */
async function wasHead(context: CatalogueContext, pipelineId: PipelineId, revisionId: RevisionId): Promise<boolean> {
  const { pipelines } = context.stores;
  const { headRevisionId } = await findPipeline(context, pipelineId);
  if (headRevisionId === revisionId) return true;
  const revision = await pipelines.findRevision(revisionId);
  const head = headRevisionId === null ? undefined : await pipelines.findRevision(headRevisionId);
  return revision !== undefined && head !== undefined && head.createdAt >= revision.createdAt;
}

interface Move {
  readonly user: UserCaller;
  readonly asking: Asking;
  readonly source: DraftSource;
  /** Empty: any head. */
  readonly expected: string;
  readonly draft: Draft;
  /** The definition in the text of `draft`. */
  readonly definition: KnownDefinition;
}

async function moveHead(context: CatalogueContext, revision: Omit<Revision, "text">, move: Move): Promise<void> {
  const { pipelineId, format } = revision;
  let { draft, definition } = move;
  const endsAt = context.clock.monotonic() + SAVE_WITHIN_MS;
  do {
    const pipeline = await findPipeline(context, pipelineId);
    const { headRevisionId } = pipeline;
    if (!isExpected(move.expected, headRevisionId)) throw headMoved(headRevisionId, move.expected);
    if (headRevisionId !== draft.headRevisionId) {
      const { work, caller } = move.asking;
      draft = await draftOn(context, move.asking, pipeline, move.source);
      // Edited into the text of another head, the definition may exceed the bound on its size.
      definition = requireKnown(await work.check(caller, { text: draft.text, format, plugins: null }));
    }
    const { revisionId } = revision;
    const [before, after] = [{ revisionId: headRevisionId }, { revisionId }];
    const change = { kind: "definition", id: pipelineId, name: pipeline.name, before, after } as const;
    const stored = { ...revision, text: draft.text };
    let outcome: "saved" | "headMoved" | "missing" = "missing";
    await recorded(move.user, change, async () => {
      outcome = await saveHead(context, stored, headRevisionId);
      return outcome === "saved";
    });
    if ((outcome as string) === "saved")
      return rememberDefinition(context.stores.pipelines, revision.revisionId, definition);
    if (outcome === "missing") throw noPipeline(pipelineId);
  } while (context.clock.monotonic() < endsAt);
  throw new MillraceError("unavailable", "other users are saving this definition at the same time: try again");
}

function isExpected(expected: string, head: RevisionId | null): boolean {
  return expected === "" || expected === head;
}

function headMoved(head: RevisionId | null, expected: string): MillraceError {
  const current = head === null ? "there is no definition yet" : `the head is ${head}`;
  return new MillraceError("head_moved", `${current}, not ${expected}: read it, merge your change and save again`, {
    problems: [{ code: "head_moved", pointer: "/expectedHeadCommitSha", message: head ?? "" }],
  });
}
