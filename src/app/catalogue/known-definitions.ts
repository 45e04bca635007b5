/** Definitions of revisions, which never change: read and validated once, not for each run. */
import type { Definition } from "../../definition/definition.ts";
import type { RevisionId } from "../../domain/ids.ts";
import type { PipelineStore } from "../../stores/ports/pipelines.ts";
import { requireDefinition } from "./required-definition.ts";
import { RecentlyRead } from "../recently-read.ts";

/** A definition may have 1 MB of text. */
const REMEMBERED = 64;

const known = new WeakMap<PipelineStore, RecentlyRead<Definition | undefined>>();

/** The definition of a revision; undefined when there is no such revision. Throws `invalid_definition` as it was saved. */
export function definitionOf(pipelines: PipelineStore, revisionId: RevisionId): Promise<Definition | undefined> {
  return memoryOf(pipelines).read(revisionId);
}

/** Of a revision that was just saved: it is triggered next. */
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
