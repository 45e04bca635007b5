/** Which commit an event is about, and which definition counts for it, in the repository of a pipeline. */
import type { RevisionId } from "../../domain/ids.ts";
import { MillraceError } from "../../domain/errors.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import { isRefName, refOf } from "../../git/names.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { defaultRefOf, definitionAt, type DefinitionAt, givenRef } from "./definition-at.ts";
import { malformed, withGit } from "./git-problems.ts";
import { openRepository } from "./repository.ts";

/** An event, as far as it names a commit. */
export interface EventPlace {
  readonly event: string;
  readonly ref: string;
  readonly fullRef: string;
  /** The target branch of a pull request. */
  readonly branch: string;
  readonly sha: string;
  /** True when anyone may have written the commit. */
  readonly fork: boolean;
  /** False when the sender is not proved: then the commit that it names counts nothing. */
  readonly isProved: boolean;
}

export interface EventCommit {
  /** Null when the commit has no definition; `lack` says why then. */
  readonly revisionId: RevisionId | null;
  /** Continues `the commit ...`; empty when there is a definition. */
  readonly lack: string;
  /** What the run builds. */
  readonly commitSha: string;
  /** The commit that the repository has under the ref of a push now; null when it was not asked for. */
  readonly tip: string | null;
}

/**
 * Of a push, tag or pull request, the definition of its commit; of a fork, that of the target branch, beside the commit of the
 * fork. Where an event names no commit, the one that its ref stands for. Stores the definition. Throws as `withGit` does, and
 * `malformed_request` for an event whose ref no ref can be.
 */
export async function eventCommit(context: GitContext, pipeline: Pipeline, place: EventPlace): Promise<EventCommit> {
  if (place.fork) return ofFork(context, pipeline, place);
  const sha = place.isProved && FULL_COMMIT.test(place.sha) ? place.sha.toLowerCase() : "";
  if (place.event !== "push" && sha !== "") return found(await definitionAt(context, pipeline, commitRef(sha)));
  const named = place.fullRef === "" ? place.ref : place.fullRef;
  const ref = named === "" ? defaultRefOf(pipeline) : givenRef("/ref", named);
  // One question answers both, which commit is the newest and, mostly, what it holds.
  const newest = await definitionAt(context, pipeline, ref).catch((error: unknown) => {
    if (sha !== "" && isNoRef(error)) return undefined;
    throw error;
  });
  const tip = newest?.commit.id ?? null;
  if (newest !== undefined && (sha === "" || tip === sha)) return { ...found(newest), tip };
  return { ...found(await definitionAt(context, pipeline, commitRef(sha))), tip };
}

/** The definition of the default branch, for an event that is not of the repository. */
export async function defaultCommit(context: GitContext, pipeline: Pipeline): Promise<EventCommit> {
  return found(await definitionAt(context, pipeline, defaultRefOf(pipeline)));
}

async function ofFork(
  context: GitContext,
  pipeline: Pipeline,
  { event, branch: target, sha, fullRef, isProved }: EventPlace,
): Promise<EventCommit> {
  const branch = ["pull_request", "comment"].includes(event) ? target : "";
  if (branch !== "" && !isRefName(branch)) throw malformed("/branch", "must be the name of a branch");
  const base = branch === "" ? defaultRefOf(pipeline) : ({ kind: "branch", name: branch } as const);
  const { revisionId, lack } = found(await definitionAt(context, pipeline, base));
  if (isProved && FULL_COMMIT.test(sha)) return { revisionId, lack, commitSha: sha.toLowerCase(), tip: null };
  const { engine, repository } = await openRepository(context, pipeline);
  const ref = refOf(fullRef);
  const tip = ref?.kind === "ref" ? await withGit(() => engine.tipOf(repository, ref.name)) : undefined;
  if (tip !== undefined) return { revisionId, lack, commitSha: tip.id, tip: null };
  // Bitbucket tells the first characters of an id alone, and no server hands a commit out by these.
  if (fullRef === "" && sha !== "") {
    const text = `the event names its commit as ${JSON.stringify(sha)} alone, and no ref that has it: such a pull request of a fork cannot be built`;
    throw new MillraceError("conflict", text);
  }
  throw new MillraceError("conflict", `the repository has no ${fullRef === "" ? "ref for the event" : fullRef}`);
}

/** True for a ref or commit that the server does not have, or does not have yet. */
export function isNoRef(error: unknown): boolean {
  return error instanceof MillraceError && error.problems.some(({ code }) => code === "git_no_ref");
}

function commitRef(id: string) {
  return { kind: "commit", id } as const;
}

function found({ commit, revision, lack }: DefinitionAt): EventCommit {
  return { revisionId: revision?.revisionId ?? null, lack, commitSha: commit.id, tip: null };
}
