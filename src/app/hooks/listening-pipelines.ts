/** The pipelines of a project whose definitions have triggers for a kind of sender. */
import { MillraceError } from "../../domain/errors.ts";
import type { HookKind } from "../../hook-events/words.ts";
import type { RevisionId } from "../../domain/ids.ts";
import type { Hook } from "../../stores/hooks/hook-store.ts";
import type { Pipeline, PipelineStore } from "../../stores/ports/pipelines.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { isOwnRepository } from "../git/own-repository.ts";
import { isInGit } from "../git/repository.ts";
import { RecentlyRead } from "../recently-read.ts";
import type { HookRunContext } from "./context.ts";

const PAGE_SIZE = 100;
/** Revisions whose providers are remembered: a few words each, where a definition may have 1 MB. */
const REMEMBERED = 20_000;

/** Null for a definition that is not valid. */
type Providers = readonly HookKind[] | null;

const known = new WeakMap<PipelineStore, RecentlyRead<Providers>>();

export interface Listening {
  readonly pipeline: Pipeline;
  /** True when the event is of the repository that has the definition. */
  readonly isOwn: boolean;
}

/**
 * Those that a delivery of the hook may concern. `addresses`: of the repository of the delivery. The definition of its commit may
 * ask for what no other one asks for, so the pipelines of that repository are always among them.
 */
export async function listeningPipelines(
  context: HookRunContext,
  { projectId, kind }: Hook,
  addresses: readonly string[],
): Promise<readonly Listening[]> {
  const { pipelines } = context.stores;
  const found: Listening[] = [];
  for (let page = 1; ; page++) {
    const request = { page, pageSize: PAGE_SIZE, sort: "createdAt", descending: false } as const;
    const { list } = await pipelines.list({ projectId }, request);
    for (const pipeline of list) {
      const isOwn = isOwnRepository(pipeline, addresses);
      if (isOwn || (await isListening(context, pipeline, kind))) found.push({ pipeline, isOwn });
    }
    if (list.length < PAGE_SIZE) return found;
  }
}

async function isListening(context: HookRunContext, pipeline: Pipeline, kind: HookKind): Promise<boolean> {
  const { headRevisionId } = pipeline;
  if (headRevisionId === null) return false;
  const providers = await providersOf(context, pipeline, headRevisionId);
  // Its verdict has to say what is wrong, and of one in Git, a mended one is found only by a look at the repository.
  if (providers === null) return kind === "generic" || !isInGit(pipeline);
  return providers.includes(kind);
}

function providersOf(
  context: HookRunContext,
  { pipelineId, projectId }: Pipeline,
  revisionId: RevisionId,
): Promise<Providers> {
  const { pipelines } = context.stores;
  let memory = known.get(pipelines);
  if (memory === undefined) known.set(pipelines, (memory = new RecentlyRead(REMEMBERED, () => Promise.resolve([]))));
  return memory.read(revisionId, async () => {
    try {
      const definition = await definitionOfRevision(pipelines, askingFor(context, projectId), revisionId);
      return definition?.providers ?? [];
    } catch (error) {
      if (!(error instanceof MillraceError) || error.reason !== "invalid_definition") throw error;
      context.log.warn({ pipelineId, revisionId }, "a definition is not valid: events do not start it");
      return null;
    }
  });
}
