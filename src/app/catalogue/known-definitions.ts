/** Parsed definitions of revisions, kept in memory: a revision never changes, so it need not be parsed for each run. */
import type { Definition } from "../../definition/definition.ts";
import type { RevisionId } from "../../domain/ids.ts";
import type { PipelineStore } from "../../stores/ports/pipelines.ts";
import { requireDefinition } from "./required-definition.ts";
import { RecentlyRead } from "../recently-read.ts";

/** Definitions in memory. Few, since each may have 1 MB of text. */
const REMEMBERED = 64;

const known = new WeakMap<PipelineStore, RecentlyRead<Definition | undefined>>();

/**
 * The definition of a revision; undefined for an unknown revision. Throws `invalid_definition` when its text does not
 * validate.
 */
export function definitionOfRevision(
  pipelines: PipelineStore,
  revisionId: RevisionId,
): Promise<Definition | undefined> {
  return memoryOf(pipelines).read(revisionId);
}

/** Adds the definition of a revision that was just saved, which is likely to be triggered next. */
export function rememberDefinition(pipelines: PipelineStore, revisionId: RevisionId, definition: Definition): void {
  memoryOf(pipelines).remember(revisionId, definition);
}

function memoryOf(pipelines: PipelineStore): RecentlyRead<Definition | undefined> {
  let memory = known.get(pipelines);
  if (memory === undefined) {
    memory = new RecentlyRead(REMEMBERED, async (id) => {
      const revision = await pipelines.findRevision(id as RevisionId);
      return revision && requireDefinition(revision.text, revision.format);
    });
    known.set(pipelines, memory);
  }
  return memory;
}
