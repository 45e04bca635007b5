/** The host of a pipeline's repository, opened with the token that the pipeline names. */
import { isAppCredential } from "../../providers/github-app.ts";
import { placeOf, providerOfHost } from "../../providers/place.ts";
import { type Provider, type ProviderName, PROVIDERS } from "../../providers/provider.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { appUseOf } from "./app-credential.ts";
import { malformed } from "./git-problems.ts";
import { readSecret, remoteOf } from "./repository.ts";

/** Characters of a PEM key begin so: a key of SSH opens no API. */
const KEY = /^-----BEGIN/;

/** Throws `malformed_request`, which names the field that is missing. */
export async function openProviderOf(
  context: Pick<GitContext, "git" | "secrets">,
  pipeline: Pipeline,
): Promise<Provider> {
  const { git } = context;
  if (git === undefined) throw malformed("/saveMode", "must be `direct`: this installation reaches no repositories");
  const remote = remoteOf(pipeline);
  const name = providerNameOf(pipeline);
  const place = placeOf(remote, name);
  if (typeof place === "string") throw malformed("/repoUrl", place);
  const field = (pipeline.repoApiCredential ?? "") === "" ? "repoCredential" : "repoApiCredential";
  const token = (await readSecret(context, pipeline, field))?.trim() ?? "";
  if (isAppCredential(token)) {
    return git.openProvider(place, git.appTokens.source(appUseOf(remote, token, field, name)));
  }
  if (token === "" || KEY.test(token) || /\s/.test(token)) {
    throw malformed(
      "/repoApiCredential",
      `must name a secret with a token: \`${field}\` has none, and ${name} asks for one`,
    );
  }
  return git.openProvider(place, token);
}

/** The software of the host. Throws `malformed_request` where it is not known. */
export function providerNameOf(pipeline: Pick<Pipeline, "repoUrl" | "repoProvider">): ProviderName {
  const remote = remoteOf(pipeline);
  const name = (pipeline.repoProvider ?? "") || providerOfHost(remote);
  if (name !== undefined) return name as ProviderName;
  const known = PROVIDERS.join(", ");
  throw malformed(
    "/repoProvider",
    `must be one of ${known}: which one ${remote.host} is does not follow from its name`,
  );
}
