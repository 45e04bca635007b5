/** The repository of a pipeline: its address, and the credential that the pipeline names. */
import { MillraceError } from "../../domain/errors.ts";
import type { GitRepositories, Repository } from "../../git/git-repositories.ts";
import { isAppCredential } from "../../providers/github-app.ts";
import { parseRemote, type Remote } from "../../git/remote.ts";
import { UnreadableSecretError } from "../../secrets/sealing.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { appUseOf } from "./app-credential.ts";
import { malformed } from "./git-problems.ts";

export interface OpenRepository {
  readonly engine: GitRepositories;
  readonly repository: Repository;
}

/** What of a pipeline its repository is opened with. */
export type OfRepository = Pick<Pipeline, "pipelineId" | "projectId" | "repoUrl"> &
  Partial<Pick<Pipeline, "repoCredential" | "repoApiCredential">>;

export function isInGit({ repoUrl }: Pick<Pipeline, "repoUrl">): boolean {
  return repoUrl !== "";
}

/** Throws `malformed_request` for an address that is none, and for a secret that is missing. */
export async function openRepository(
  context: Pick<GitContext, "git" | "secrets">,
  pipeline: OfRepository,
): Promise<OpenRepository> {
  const { git } = context;
  if (git === undefined) {
    throw malformed("/repoUrl", "must be empty: this installation keeps definitions inline only");
  }
  const remote = remoteOf(pipeline);
  const secret = await readSecret(context, pipeline, "repoCredential");
  const credential =
    secret !== null && isAppCredential(secret)
      ? git.appTokens.source(appUseOf(remote, secret, "repoCredential"))
      : secret;
  return { engine: git.repositories, repository: { owner: pipeline.projectId, remote, credential } };
}

export function remoteOf({ repoUrl }: Pick<Pipeline, "repoUrl">): Remote {
  const remote = parseRemote(repoUrl);
  if (typeof remote === "string") throw malformed("/repoUrl", remote);
  return remote;
}

/** The secret that a field names; null for none. A secret of the pipeline comes before one of its project. */
export async function readSecret(
  { secrets }: Pick<GitContext, "secrets">,
  pipeline: OfRepository,
  field: "repoCredential" | "repoApiCredential",
): Promise<string | null> {
  const { [field]: name = "" } = pipeline;
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
    `/${field}`,
    `must name a secret of the pipeline or its project: there is none with the name ${JSON.stringify(name)}`,
  );
}
