/** `millrace pipelines`: lists, creates, shows and deletes pipelines. */
import { findPipeline, findProject, requireDefinition } from "../../remote/find.ts";
import { type RemoteOptions, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";
import { STATUS_COLOURS } from "../../screen.ts";

export interface PipelineOptions extends RemoteOptions {
  readonly project?: string;
}

export interface ListOptions extends PipelineOptions {
  readonly limit: number;
}

export function listPipelines(options: ListOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const projectId =
      options.project === undefined ? undefined : (await findProject(client, options.project)).projectId;
    const found = await takeItems(
      client.items("/pipelines", { query: { projectId, sort: "name" }, signal }),
      options.limit,
    );
    report.list(
      found,
      [
        { title: "name", text: ({ name }) => name },
        {
          title: "last run",
          text: ({ lastRun }) => lastRun?.status ?? "-",
          colour: ({ lastRun }) => (lastRun === null ? undefined : STATUS_COLOURS[lastRun.status]),
        },
        { title: "at", text: ({ lastRun }) => lastRun?.createdAt ?? "-" },
        { title: "project", text: ({ projectId: id }) => id },
        { title: "id", text: ({ pipelineId }) => pipelineId },
      ],
      "no pipelines; `millrace pipelines create NAME` makes one",
    );
  });
}

/** Where a definition is in its repository. */
export interface PlaceInGit {
  readonly branch?: string;
  readonly path?: string;
  readonly credential?: string;
}

/** As the API names it. */
export function placeFields({ branch, path, credential }: PlaceInGit) {
  return {
    ...(branch !== undefined && { defaultBranch: branch }),
    ...(path !== undefined && { pipelineFilePath: path }),
    ...(credential !== undefined && { repoCredential: credential }),
  };
}

export interface CreateOptions extends PipelineOptions, PlaceInGit {
  readonly description?: string;
  readonly repo?: string;
  readonly saveMode?: "direct" | "pr";
  readonly target?: string;
  readonly provider?: "github" | "gitlab" | "gitea" | "forgejo" | "bitbucket";
  readonly apiCredential?: string;
  readonly commitStatuses?: "off" | "run" | "jobs";
}

export function createPipeline(name: string, options: CreateOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { project, description, repo } = options;
    const projectId = project === undefined ? undefined : (await findProject(client, project)).projectId;
    const body = {
      name,
      ...(projectId === undefined ? {} : { projectId }),
      ...(description === undefined ? {} : { description }),
      ...(repo === undefined ? {} : { repoUrl: repo }),
      ...placeFields(options),
      ...proposalFields(options),
    };
    const made = await client.post("/pipelines", { body, signal });
    const next = made.headCommitSha === "" ? `save ${made.name} FILE` : `show ${made.name}`;
    report.object(made, `created ${made.name} (${made.pipelineId})`, `next: millrace pipelines ${next}`);
  });
}

/** How saves are proposed and what the host is told, as the API names it. */
function proposalFields({ saveMode, target, provider, apiCredential, commitStatuses }: CreateOptions) {
  return {
    ...(saveMode !== undefined && { saveMode }),
    ...(target !== undefined && { prTargetBranch: target }),
    ...(provider !== undefined && { repoProvider: provider }),
    ...(apiCredential !== undefined && { repoApiCredential: apiCredential }),
    ...(commitStatuses !== undefined && { commitStatuses }),
  };
}

export interface ShowOptions extends PipelineOptions {
  readonly ref?: string;
}

/** Prints the text of the definition. */
export function showPipeline(name: string, options: ShowOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const found = await findPipeline(client, name, options.project);
    requireDefinition(found, "not_found");
    const { pipelineId } = found;
    const query = options.ref === undefined ? {} : { ref: options.ref };
    const spec = await client.get("/pipelines/{pipelineId}/spec", { path: { pipelineId }, query, signal });
    if (report.isJson) report.json(spec);
    else process.stdout.write(spec.text.endsWith("\n") ? spec.text : `${spec.text}\n`);
  });
}

export interface DeleteOptions extends PipelineOptions {
  readonly force?: boolean;
}

export function deletePipeline(name: string, options: DeleteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, name, options.project);
    const query = options.force === true ? ({ force: "true" } as const) : {};
    await client.delete("/pipelines/{pipelineId}", { path: { pipelineId }, query, signal });
    report.object({ pipelineId, deleted: true }, `deleted ${name} (${pipelineId})`);
  });
}
