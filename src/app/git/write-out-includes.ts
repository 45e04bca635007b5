/** Definitions that leave their repository: what they include is written out, since an inline definition includes nothing. */
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Pipeline, Revision } from "../../stores/ports/pipelines.ts";
import { type Asking, askingFor } from "../catalogue/plugin-lookup.ts";
import { requireKnown } from "../catalogue/required-definition.ts";
import { saveHead } from "../catalogue/timetable.ts";
import type { UserCaller } from "../identity/access.ts";
import type { GitContext } from "./context.ts";

/** The text of a definition that includes nothing; else a text of all files together. Throws `invalid_definition`. */
export async function inlineText(
  { work, caller }: Asking,
  { text, format, includes }: Pick<Revision, "text" | "format" | "includes">,
): Promise<string> {
  if (includes === undefined) return text;
  requireKnown(await work.check(caller, { text, format, includes, plugins: null }));
  const spec = await work.resolved(caller, { text, format, includes });
  return work.draft(caller, { head: null, spec, format });
}

/**
 * Gives an inline pipeline whose head was read from a repository a head that includes nothing. A head with errors stays: it
 * cannot be merged, and saves say what is wrong with it. A repeat finishes what was cut off, and changes nothing that is done.
 */
export async function writeOutIncludes(context: GitContext, user: UserCaller, pipeline: Pipeline): Promise<void> {
  const { pipelineId, headRevisionId } = pipeline;
  if (headRevisionId === null) return;
  const head = await context.stores.pipelines.findRevision(headRevisionId);
  if (head?.includes === undefined) return;
  let text: string;
  try {
    text = await inlineText(askingFor(context, user.userId), head);
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "invalid_definition") return;
    throw error;
  }
  const commit = head.commit === undefined ? "" : ` of commit ${head.commit.id}`;
  const written: Revision = {
    revisionId: newId("rev"),
    pipelineId,
    format: head.format,
    text,
    message: `Write out what the definition${commit} includes`,
    editor: user.name,
    actor: user.name,
    createdAt: context.clock.now(),
  };
  // A head that has moved is the save of another user, which includes nothing.
  await saveHead(context, written, headRevisionId);
}
