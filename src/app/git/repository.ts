/** The repository of a pipeline: its address, and the credential that the pipeline names. */
import { MillraceError } from "../../domain/errors.ts";
import type { GitRepositories, Repository } from "../../git/git-repositories.ts";
import { parseRemote, type Remote } from "../../git/remote.ts";
import { UnreadableSecretError } from "../../secrets/sealing.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { malformed } from "./git-problems.ts";

export interface OpenRepository {
  readonly engine: GitRepositories;
  readonly repository: Repository;
}

export function isInGit({ repoUrl }: Pick<Pipeline, "repoUrl">): boolean {
  return repoUrl !== "";
}

/** Throws `malformed_request` for an address that is none, and for a secret that is missing. */
export async function openRepository(
  context: Pick<GitContext, "git" | "secrets">,
  pipeline: Pipeline,
): Promise<OpenRepository> {
  const { git } = context;
  if (git === undefined) {
    throw malformed("/repoUrl", "must be empty: this installation keeps definitions inline only");
  }
  const remote = remoteOf(pipeline);
  const credential = await readCredential(context, pipeline);
  return { engine: git.repositories, repository: { owner: pipeline.projectId, remote, credential } };
}

function remoteOf({ repoUrl }: Pipeline): Remote {
  const remote = parseRemote(repoUrl);
  if (typeof remote === "string") throw malformed("/repoUrl", remote);
  return remote;
}

/** A secret of the pipeline comes before one of its project. */
async function readCredential({ secrets }: Pick<GitContext, "secrets">, pipeline: Pipeline): Promise<string | null> {
  const { repoCredential: name = "" } = pipeline;
  if (name === "") return null;
  let values: ReadonlyMap<string, string>;
  try {
    values = await secrets.read(pipeline, [name]);
  } catch (error) {
    if (error instanceof UnreadableSecretError) throw new MillraceError("conflict", error.message);
    throw error;
  }
  const value = values.get(name);
  if (value !== undefined) return value;
  throw malformed(
    "/repoCredential",
    `must name a secret of the pipeline or its project: there is none with the name ${JSON.stringify(name)}`,
  );
}
