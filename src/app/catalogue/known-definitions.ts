/** Definitions of revisions, kept in memory: a revision never changes, so it need not be checked for each run. */
import type { KnownDefinition } from "../../definition-work/definition-work.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { RevisionId } from "../../domain/ids.ts";
import type { PipelineStore } from "../../stores/ports/pipelines.ts";
import type { Asking } from "./plugin-lookup.ts";
import { requireKnown } from "./required-definition.ts";
import { RecentlyRead } from "../recently-read.ts";

/** Definitions in memory. Few, since each may have 1 MB of text. */
const REMEMBERED = 64;

const known = new WeakMap<PipelineStore, RecentlyRead<KnownDefinition | undefined>>();

/**
 * The definition of a revision; undefined for an unknown revision. Throws `invalid_definition` when its text does not
 * validate, and rejects as `Threads.run` does.
 */
export function definitionOfRevision(
  pipelines: PipelineStore,
  { work, caller }: Asking,
  revisionId: RevisionId,
): Promise<KnownDefinition | undefined> {
  return memoryOf(pipelines).read(revisionId, async () => {
    const revision = await pipelines.findRevision(revisionId);
    if (revision === undefined) return undefined;
    const { text, format, includes, commit } = revision;
    return requireKnown(await work.check(caller, { text, format, includes, plugins: null }), commit?.path);
  });
}

/** {@link definitionOfRevision} where a text that does not validate is an answer: null. */
export async function knownOfRevision(
  pipelines: PipelineStore,
  asking: Asking,
  revisionId: RevisionId,
): Promise<KnownDefinition | null> {
  try {
    return (await definitionOfRevision(pipelines, asking, revisionId)) ?? null;
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "invalid_definition") return null;
    throw error;
  }
}

/** Adds the definition of a revision that was just saved, which is likely to be triggered next. */
export function rememberDefinition(
  pipelines: PipelineStore,
  revisionId: RevisionId,
  definition: KnownDefinition,
): void {
  memoryOf(pipelines).remember(revisionId, definition);
}

function memoryOf(pipelines: PipelineStore): RecentlyRead<KnownDefinition | undefined> {
  let memory = known.get(pipelines);
  if (memory === undefined) known.set(pipelines, (memory = new RecentlyRead(REMEMBERED, notLoaded)));
  return memory;
}

/** Every read says how to load. */
function notLoaded(): Promise<undefined> {
  return Promise.resolve(undefined);
}
