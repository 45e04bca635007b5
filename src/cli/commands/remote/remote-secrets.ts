/** `millrace secrets list`, `set`, `set-github-app` and `delete`: the secrets of a project or of a pipeline. Values are never shown. */
import { createPrivateKey } from "node:crypto";
import { ApiError, type MillraceClient } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findPipeline, findProject } from "../../remote/find.ts";
import { readSecret } from "../../remote/prompt.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";

export interface SecretOptions extends RemoteOptions {
  readonly project?: string;
  readonly pipeline?: string;
}

export function listSecrets(options: SecretOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const place = await placeOf(client, options);
    const { list } =
      "pipelineId" in place
        ? await client.get("/pipelines/{pipelineId}/secrets", { path: place, signal })
        : await client.get("/projects/{projectId}/secrets", { path: place, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "of", text: ({ scope }) => scope },
        { title: "version", text: ({ version }) => `${version}` },
        { title: "changed", text: ({ updatedAt }) => updatedAt },
        { title: "by", text: ({ updatedBy }) => updatedBy },
      ],
      "no secrets; `millrace secrets set NAME` makes one",
    );
  });
}

/** Creates the secret, or gives it another value. */
export function setSecret(name: string, options: SecretOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const place = await placeOf(client, options);
    const value = await readSecret(`Value of ${name}`);
    const set = await putOrCreate(client, place, name, value, signal);
    report.object(set, `set ${name}, version ${set.version}`);
  });
}

export interface AppOptions extends SecretOptions {
  readonly app: string;
  readonly installation: string;
  readonly host?: string;
}

/** Stores a GitHub App, whose private key is read from standard input, as the secret that repositories are opened with. */
export function setGitHubApp(name: string, options: AppOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const place = await placeOf(client, options);
    const privateKey = await readSecret("Private key of the App");
    if (!isPrivateKey(privateKey)) {
      throw new UsageError("standard input has no private key: send the .pem file of the App, as GitHub made it");
    }
    const { app: appId, installation: installationId, host } = options;
    const value = JSON.stringify({ appId, installationId, privateKey, ...(host !== undefined && { host }) });
    const set = await putOrCreate(client, place, name, value, signal);
    report.object(set, `set ${name}, version ${set.version}`, `next: name ${name} as the credential of a pipeline`);
  });
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

export function deleteSecret(name: string, options: SecretOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const place = await placeOf(client, options);
    if ("pipelineId" in place) {
      await client.delete("/pipelines/{pipelineId}/secrets/{name}", { path: { ...place, name }, signal });
    } else {
      await client.delete("/projects/{projectId}/secrets/{name}", { path: { ...place, name }, signal });
    }
    report.object({ name, deleted: true }, `deleted ${name}`);
  });
}

type Place = { readonly projectId: string } | { readonly pipelineId: string };

/** The pipeline or project that the options name; without any, the project `default`. */
async function placeOf(client: MillraceClient, { project, pipeline }: SecretOptions): Promise<Place> {
  if (pipeline !== undefined) return { pipelineId: (await findPipeline(client, pipeline, project)).pipelineId };
  if (project === "") throw new UsageError("--project: must not be empty");
  return { projectId: project === undefined ? "default" : (await findProject(client, project)).projectId };
}

async function putOrCreate(client: MillraceClient, place: Place, name: string, value: string, signal: AbortSignal) {
  const isOfPipeline = "pipelineId" in place;
  try {
    return isOfPipeline
      ? await client.put("/pipelines/{pipelineId}/secrets/{name}", {
          path: { ...place, name },
          body: { value },
          signal,
        })
      : await client.put("/projects/{projectId}/secrets/{name}", { path: { ...place, name }, body: { value }, signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "not_found")) throw error;
  }
  return isOfPipeline
    ? client.post("/pipelines/{pipelineId}/secrets", { path: place, body: { name, value }, signal })
    : client.post("/projects/{projectId}/secrets", { path: place, body: { name, value }, signal });
}
