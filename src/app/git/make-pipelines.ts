/** Makes pipelines of the definitions of a repository that a user has chosen. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type PipelineId, type ProjectId } from "../../domain/ids.ts";
import type { CatalogueContext } from "../catalogue/context.ts";
import { createPipeline, createPipelineBody, updatePipelineBody } from "../catalogue/pipelines.ts";
import { saveBody } from "../catalogue/spec-shapes.ts";
import type { Caller, UserCaller } from "../identity/access.ts";
import { reachProject } from "../reaching.ts";
import { claimRequest, peekRequest } from "../request-ids.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import { withTrailOfItsOwn } from "../identity/trails.ts";
import { connectedPipelines, nameFor, placeOfRepository } from "./discover.ts";
import { DEFAULT_BRANCH } from "./connect.ts";
import { withGit } from "./git-problems.ts";
import { openRepository, remoteOf } from "./repository.ts";
import { repositoryPath } from "../../git/remote.ts";

const MAX_FILES = 50;

const { saveMode, prTargetBranch, repoProvider, repoApiCredential, pipelineFilePath } = updatePipelineBody.shape;

export const makePipelinesBody = z.strictObject({
  ...placeOfRepository,
  saveMode,
  prTargetBranch,
  repoProvider,
  repoApiCredential,
  files: z
    .array(z.strictObject({ path: pipelineFilePath.unwrap().min(1), name: createPipelineBody.shape.name.optional() }))
    .min(1)
    .max(MAX_FILES)
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, "must name each path once"),
  requestId: saveBody.shape.requestId,
});

export const MadePipelinesShape = shape("MadePipelines", () => ({
  projectId: id<ProjectId>(),
  /** In the order of the call. */
  list: listOf(
    fields(() => ({
      path: z.string(),
      name: z.string(),
      /** `connected`: the project had a pipeline of this file. `refused`: `problem` says why. */
      outcome: z.enum(["created", "connected", "refused"]),
      pipelineId: id<PipelineId>().nullable(),
      problem: z.string(),
    })),
  ),
}));

type MakeInput = z.output<typeof makePipelinesBody>;
export type Made = z.infer<typeof MadePipelinesShape>["list"][number];

/**
 * A file that cannot be connected does not keep the others from it. A repeat of a `requestId` answers as the first call did,
 * and makes what that call has not made. Throws `not_found`, `malformed_request`, `request_id_reused`, and for the repository
 * as `connect` does.
 */
export async function makePipelines(
  context: CatalogueContext,
  caller: Caller,
  { projectId, ...input }: MakeInput & { readonly projectId: ProjectId },
): Promise<z.infer<typeof MadePipelinesShape>> {
  const { user } = await reachProject(context, caller, "writePipelines", projectId);
  const { requestId } = input;
  await claimRequest(context, {
    caller: user,
    scope: `makePipelines/${projectId}`,
    requestId,
    body: input,
    freshId: () => newId("pl"),
  });
  const branch = await branchOf(context, projectId, input);
  const connected = await connectedPipelines(context, projectId, input.repoUrl, branch);
  const list: Made[] = [];
  for (const file of input.files) {
    const body = bodyOf(projectId, { ...input, defaultBranch: branch }, file);
    const idOfFile = requestId === undefined || requestId === "" ? undefined : `${requestId}/${file.path}`;
    const there = connected.get(file.path);
    if (there !== undefined && !(await isOfThisRequest(context, user, idOfFile, body))) {
      list.push({ path: file.path, name: there.name, outcome: "connected", pipelineId: there.pipelineId, problem: "" });
    } else {
      list.push(await make(context, withTrailOfItsOwn(caller), { ...body, requestId: idOfFile }));
    }
  }
  // Each pipeline has an entry of its own.
  user.trail?.changedNothing();
  return { projectId, list };
}

async function branchOf(context: CatalogueContext, projectId: ProjectId, input: MakeInput): Promise<string> {
  if ((input.defaultBranch ?? "") !== "") return input.defaultBranch!;
  const { engine, repository } = await openRepository(context, {
    projectId,
    pipelineId: newId("pl"),
    repoUrl: input.repoUrl,
    repoCredential: input.repoCredential ?? "",
  });
  return (await withGit(() => engine.defaultBranch(repository))) ?? DEFAULT_BRANCH;
}

type CreateBody = z.output<typeof createPipelineBody>;

function bodyOf(
  projectId: ProjectId,
  { files: _f, requestId: _r, ...place }: MakeInput,
  { path, name }: MakeInput["files"][number],
): CreateBody {
  const repositoryName = repositoryPath(remoteOf(place)).split("/").at(-1) ?? "";
  return { ...place, projectId, name: name ?? nameFor(repositoryName, path), pipelineFilePath: path };
}

/** Whether an earlier call with the same `requestId` has made the pipeline. */
async function isOfThisRequest(
  context: CatalogueContext,
  user: UserCaller,
  requestId: string | undefined,
  body: CreateBody,
): Promise<boolean> {
  return (await peekRequest(context, { caller: user, scope: "createPipeline", requestId, body })) !== undefined;
}

async function make(
  context: CatalogueContext,
  caller: Caller,
  body: CreateBody & { readonly requestId: string | undefined },
): Promise<Made> {
  const { name, pipelineFilePath: path = "" } = body;
  try {
    const made = await createPipeline(context, caller, body);
    return { path, name, outcome: "created", pipelineId: made.pipelineId, problem: "" };
  } catch (error) {
    if (!(error instanceof MillraceError) || error.reason === "unavailable") throw error;
    return { path, name, outcome: "refused", pipelineId: null, problem: error.message };
  }
}
