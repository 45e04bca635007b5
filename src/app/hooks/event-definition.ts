/** The definition that counts for an event: of an inline pipeline its head, of one in Git that of a commit. */
import type { KnownDefinition } from "../../definition-work/definition-work.ts";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import type { RevisionId } from "../../domain/ids.ts";
import type { EventFacts } from "../../hook-events/words.ts";
import type { Hook, ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { defaultCommit, type EventCommit, eventCommit, isNoRef } from "../git/event-commit.ts";
import { isInGit } from "../git/repository.ts";
import type { HookRunContext } from "./context.ts";
import type { Listening } from "./listening-pipelines.ts";

export type EventDefinition =
  | {
      readonly found: "definition";
      readonly known: KnownDefinition;
      readonly revisionId: RevisionId;
      /** Undefined for an inline definition. */
      readonly commitSha: string | undefined;
      /** Where a pushed ref is now; null when it is not known. */
      readonly tip: string | null;
    }
  /** There is none, and why. `refused`: a person has to do something. */
  | { readonly found: "nothing"; readonly outcome: "filtered" | "refused"; readonly text: string }
  /** The repository does not answer, or does not have the commit yet. */
  | { readonly found: "later"; readonly text: string };

/** A server may tell of a commit a moment before it hands it out: so often it is asked again, for about a minute. */
const MISSING_TRIES = 5;
const SHOWN_PROBLEMS = 5;
const TEXT_CHARS = 2_000;

/** Rejects only for faults of the store. */
export async function eventDefinition(
  context: HookRunContext,
  hook: Hook,
  { pipeline, isOwn }: Listening,
  facts: EventFacts,
  { failures }: Pick<ReceivedDelivery, "failures">,
): Promise<EventDefinition> {
  try {
    if (!isInGit(pipeline)) return await definitionAt(context, pipeline, inlineCommit(pipeline));
    if (!isOwn && hook.kind !== "generic") {
      const of = facts.repository === "" ? "another repository" : facts.repository;
      const text = `repository: the event is of ${of}, and the definition is in ${pipeline.repoUrl}`;
      return { found: "nothing", outcome: "filtered", text };
    }
    if (isOwn && facts.deleted) {
      // The commit is gone with its definition.
      return {
        found: "nothing",
        outcome: "filtered",
        text: `deletion: ${facts.ref} was removed, which starts nothing`,
      };
    }
    const isProved = hook.proof !== "none";
    const commit = isOwn
      ? await eventCommit(context, pipeline, { ...facts, isProved })
      : await defaultCommit(context, pipeline);
    return await definitionAt(context, pipeline, commit);
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    const isLater = ERROR_TABLE[error.reason].retry === "later" || (isNoRef(error) && failures < MISSING_TRIES);
    if (isLater) return { found: "later", text: error.message.slice(0, TEXT_CHARS) };
    return { found: "nothing", outcome: "refused", text: textOf(error) };
  }
}

function inlineCommit({ headRevisionId: revisionId }: Pipeline): EventCommit {
  return { revisionId, lack: "", commitSha: "", tip: null };
}

async function definitionAt(
  context: HookRunContext,
  { projectId }: Pipeline,
  { revisionId, lack, commitSha, tip }: EventCommit,
): Promise<EventDefinition> {
  if (revisionId === null) return { found: "nothing", outcome: "filtered", text: `commit ${commitSha} ${lack}` };
  try {
    const known = await definitionOfRevision(context.stores.pipelines, askingFor(context, projectId), revisionId);
    if (known === undefined) return { found: "nothing", outcome: "refused", text: `revision ${revisionId} is gone` };
    const inGit = commitSha === "" ? undefined : commitSha;
    return { found: "definition", known, revisionId, commitSha: inGit, tip };
  } catch (error) {
    if (!(error instanceof MillraceError) || error.reason !== "invalid_definition") throw error;
    const of = commitSha === "" ? "the definition" : `the definition of commit ${commitSha}`;
    return { found: "nothing", outcome: "refused", text: `${of} is not valid: ${textOf(error)}` };
  }
}

/** The message of an error, or its first problems with their places. */
function textOf({ message, problems }: MillraceError): string {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ pointer, line, message: each }) => {
    if (line !== undefined) return `line ${line}, ${pointer || "/"}: ${each}`;
    return pointer === "" ? each : `${pointer}: ${each}`;
  });
  const more = problems.length > SHOWN_PROBLEMS ? `; and ${problems.length - SHOWN_PROBLEMS} more` : "";
  return `${problems.length === 0 ? message : lines.join("; ")}${more}`.slice(0, TEXT_CHARS);
}
