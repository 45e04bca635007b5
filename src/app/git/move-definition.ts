/** Moves an inline definition into a repository, with a commit of its own there, and back. */
import { formatOfPath } from "../../domain/names.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { saveHead } from "../catalogue/timetable.ts";
import { newId, type PipelineId } from "../../domain/ids.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import type { CatalogueContext } from "../catalogue/context.ts";
import { saveSpec } from "../catalogue/definitions.ts";
import { updatePipelineBody, type PipelineView, viewWithNewestRun } from "../catalogue/pipelines.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { requireSpec } from "../catalogue/required-definition.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { saveBody } from "../catalogue/spec-shapes.ts";
import { type ActingUser, type Caller, claimedIdentity } from "../identity/access.ts";
import { findPipeline, noPipeline } from "../lookups.ts";
import { reachPipeline } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { connect, type Connected } from "./connect.ts";
import { defaultRefOf, requireDefinitionAt } from "./definition-at.ts";
import { malformed } from "./git-problems.ts";
import { isInGit } from "./repository.ts";
import { inlineText } from "./write-out-includes.ts";

const { repoUrl, defaultBranch, pipelineFilePath, repoCredential } = updatePipelineBody.shape;
const { commitMessage, editor, requestId } = saveBody.shape;
const people = { commitMessage, editor, requestId };

export const moveBody = z.discriminatedUnion("to", [
  z.strictObject({
    to: z.literal("git"),
    repoUrl: repoUrl.unwrap().min(1),
    defaultBranch,
    pipelineFilePath,
    repoCredential,
    ...people,
  }),
  z.strictObject({ to: z.literal("inline"), ...people }),
]);

type MoveInput = z.output<typeof moveBody>;

/**
 * Answers the pipeline as it is then. To Git: the text of the head becomes a commit, unless the file has it already. To
 * inline: the text of the branch becomes a revision. Each is what it was, comments included. A move that was cut off is
 * finished by a repeat. Throws `conflict` without a definition and for a file with another content, and as `connect` and
 * `saveInGit` do.
 */
export async function moveDefinition(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, ...input }: MoveInput & { readonly pipelineId: PipelineId },
): Promise<PipelineView> {
  const { user, found } = await reachPipeline(context, caller, "writeDefinitions", pipelineId);
  await reachPipeline(context, caller, "writePipelines", pipelineId);
  const { requestId, ...body } = input;
  // A repeat does the same again: it finishes what was cut off, and changes nothing that is done.
  const freshId = () => newId("rev");
  await claimRequest(context, { caller: user, scope: `moveDefinition/${pipelineId}`, requestId, body, freshId });
  if (input.to === "git") await toGit(context, { user, caller, pipeline: found }, input);
  else await toInline(context, { user, caller, pipeline: found }, input);
  return viewWithNewestRun(context, await findPipeline(context, pipelineId));
}

interface Moving {
  readonly user: ActingUser;
  readonly caller: Caller;
  readonly pipeline: Pipeline;
}

type ToGit = Extract<MoveInput, { readonly to: "git" }>;

async function toGit(context: CatalogueContext, { user, caller, pipeline }: Moving, input: ToGit): Promise<void> {
  const { pipelineId } = pipeline;
  if (isInGit(pipeline) && pipeline.repoUrl !== input.repoUrl) {
    throw conflict("the definition is in another repository: move it to `inline` first");
  }
  const asking = askingFor(context, user.userId);
  const head = await headOf(context, pipeline);
  const ending = head.format === "json" ? "json" : "yaml";
  const connected = await connect(context, {
    ...pipeline,
    repoUrl: input.repoUrl,
    defaultBranch: input.defaultBranch ?? pipeline.defaultBranch,
    pipelineFilePath: input.pipelineFilePath ?? (pipeline.pipelineFilePath || `.millrace/pipeline.${ending}`),
    repoCredential: input.repoCredential ?? pipeline.repoCredential ?? "",
    updatedAt: Math.max(context.clock.now(), pipeline.updatedAt + 1),
  });
  const path = connected.pipeline.pipelineFilePath;
  if (formatOfPath(path) !== head.format) {
    throw malformed("/pipelineFilePath", `must end in .${ending}, since the definition is ${head.format}`);
  }
  const there = textOf(connected);
  if (!isInGit(pipeline)) {
    if (there !== undefined && there !== head.text) {
      throw conflict(
        `${path} has another definition at ${connected.answer!.commit.id}: connect the pipeline with it by PUT, or choose another \`pipelineFilePath\``,
      );
    }
    // Before the pipeline is connected: a definition with errors cannot be committed afterwards.
    if (there === undefined) await definitionOfRevision(context.stores.pipelines, asking, head.revisionId);
    await update(context, user, pipeline, connected.pipeline);
  }
  // After the record: a reader of an inline pipeline must not take the repository's text for its head.
  if (there !== undefined) return;
  const spec = await requireSpec(asking, head);
  const message = input.commitMessage ?? `Move the definition of ${pipeline.name} into the repository`;
  await saveSpec(context, caller, {
    pipelineId,
    spec,
    format: head.format,
    layout: head.text,
    commitMessage: message,
    requestId: input.requestId,
    editor: input.editor,
  });
}

function textOf({ answer }: Connected): string | undefined {
  return answer?.file.kind === "file" ? answer.file.content.toString("utf8") : undefined;
}

async function toInline(
  context: CatalogueContext,
  { user, pipeline }: Moving,
  input: Extract<MoveInput, { readonly to: "inline" }>,
): Promise<void> {
  const editor = claimedIdentity(user, input.editor, "editor");
  if (!isInGit(pipeline)) {
    user.trail?.changedNothing();
    return;
  }
  const { pipelineId } = pipeline;
  const { revision, commit } = await requireDefinitionAt(context, pipeline, defaultRefOf(pipeline));
  const { headRevisionId } = await findPipeline(context, pipelineId);
  const inline: Revision = {
    revisionId: newId("rev"),
    pipelineId,
    format: revision.format,
    text: await inlineText(askingFor(context, user.userId), revision),
    message: input.commitMessage ?? `Move the definition of commit ${commit.id} out of the repository`,
    editor,
    actor: user.name,
    createdAt: context.clock.now(),
  };
  const updatedAt = Math.max(context.clock.now(), pipeline.updatedAt + 1);
  await update(context, user, pipeline, {
    ...pipeline,
    repoUrl: "",
    pipelineFilePath: "",
    repoCredential: "",
    updatedAt,
  });
  if ((await saveHead(context, inline, headRevisionId)) === "saved") return;
  throw conflict("another call has changed the definition meanwhile: read it, and save it inline if it should change");
}

async function update(context: CatalogueContext, user: ActingUser, before: Pipeline, after: Pipeline): Promise<void> {
  const { pipelineId, name, updatedAt } = before;
  const change = { kind: "pipeline", id: pipelineId, name, before: { ...before }, after: { ...after } } as const;
  await recorded(user, change, async () => {
    const outcome = await context.stores.pipelines.update(after, { updatedAt });
    if (outcome === "missing") throw noPipeline(pipelineId);
    if (outcome !== "updated")
      throw conflict("another call has changed the pipeline meanwhile: read it, and try again");
  });
}

async function headOf({ stores }: CatalogueContext, { headRevisionId }: Pipeline): Promise<Revision> {
  const head = headRevisionId === null ? undefined : await stores.pipelines.findRevision(headRevisionId);
  if (head !== undefined) return head;
  throw conflict("the pipeline has no definition to move: save one, or connect it with a repository by PUT");
}

function conflict(message: string): MillraceError {
  return new MillraceError("conflict", message);
}
