/** Finds the definitions of a repository, for people who connect it. Changes nothing. */
import { z } from "zod";
import { newId, type PipelineId, type ProjectId } from "../../domain/ids.ts";
import type { FolderAnswer } from "../../git/git-repositories.ts";
import { GitFault } from "../../git/git-fault.ts";
import { formatOfPath } from "../../domain/names.ts";
import { isRefName } from "../../git/names.ts";
import type { PlacedFile } from "../../git/read-files.ts";
import { parseRemote, repositoryKey, repositoryPath } from "../../git/remote.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { CatalogueContext } from "../catalogue/context.ts";
import { DiagnosticShape } from "../catalogue/diagnostic-shape.ts";
import { updatePipelineBody } from "../catalogue/pipelines.ts";
import { type Asking, askingFor, checkWithPlugins } from "../catalogue/plugin-lookup.ts";
import type { Caller } from "../identity/access.ts";
import { reachProject } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import { DEFAULT_BRANCH } from "./connect.ts";
import { lackOf } from "./definition-at.ts";
import { malformed, withGit } from "./git-problems.ts";
import { includesAt } from "./includes.ts";
import { openRepository, type OpenRepository } from "./repository.ts";

const FOLDER = ".millrace";
const MAX_FILES = 50;
/** The file whose pipeline is named after the repository alone. */
const USUAL = /^pipeline\.(?:ya?ml|json)$/;
const PAGE_SIZE = 100;

const { repoUrl, defaultBranch, repoCredential } = updatePipelineBody.shape;

/** Where the definitions are, and what opens the repository. */
export const placeOfRepository = {
  repoUrl: repoUrl.unwrap().min(1),
  defaultBranch,
  repoCredential,
};
export const discoverBody = z.strictObject(placeOfRepository);

export const DiscoveryShape = shape("Discovery", () => ({
  projectId: id<ProjectId>(),
  repoUrl: z.string(),
  branch: z.string(),
  /** Null while the repository has no commit. */
  headCommitSha: z.string().nullable(),
  /** In the order of their paths. */
  list: listOf(
    fields(() => ({
      path: z.string(),
      /** A name for its pipeline. */
      name: z.string(),
      format: z.enum(["json", "yaml"]),
      /** Whether a pipeline of it would run. */
      valid: z.boolean(),
      /** Why the file is no definition; empty when it may be one. */
      problem: z.string(),
      diagnostics: listOf(DiagnosticShape),
      /** The pipeline of the project that takes its definition from this file of this branch; null for none. */
      pipeline: fields(() => ({ pipelineId: id<PipelineId>(), name: z.string() })).nullable(),
    })),
  ),
  /** True when the folder has more files than are listed. */
  hasMore: z.boolean(),
}));

export type Discovery = z.infer<typeof DiscoveryShape>;

/**
 * Lists the files below `.millrace/` of a branch that can be definitions. Throws `not_found`, `malformed_request`, `git_refused`
 * and `unavailable`, which name the field that is in the way.
 */
export async function discoverDefinitions(
  context: CatalogueContext,
  caller: Caller,
  { projectId, ...input }: z.output<typeof discoverBody> & { readonly projectId: ProjectId },
): Promise<Discovery> {
  const { user } = await reachProject(context, caller, "writePipelines", projectId);
  const { branch, answer, opened, repositoryName } = await lookInto(context, projectId, input);
  const connected = await connectedPipelines(context, projectId, input.repoUrl, branch);
  const common = { projectId, repoUrl: input.repoUrl, branch };
  if (answer === null) return { ...common, headCommitSha: null, list: [], hasMore: false };
  const asking = askingFor(context, user.userId);
  const list: Discovery["list"][number][] = [];
  for (const placed of answer.files) {
    const pipeline = connected.get(placed.path);
    list.push({
      path: placed.path,
      name: pipeline?.name ?? nameFor(repositoryName, placed.path),
      format: formatOfPath(placed.path),
      ...(await judge(context, asking, { projectId, opened, commit: answer.commit.id }, placed)),
      pipeline: pipeline === undefined ? null : { pipelineId: pipeline.pipelineId, name: pipeline.name },
    });
  }
  return { ...common, headCommitSha: answer.commit.id, list, hasMore: answer.hasMore };
}

interface Look {
  readonly branch: string;
  /** Null for a repository without a commit. */
  readonly answer: FolderAnswer | null;
  readonly opened: OpenRepository;
  readonly repositoryName: string;
}

/** What a branch has below the folder. */
async function lookInto(
  context: CatalogueContext,
  projectId: ProjectId,
  given: z.output<typeof discoverBody>,
): Promise<Look> {
  const named = given.defaultBranch ?? "";
  if (named !== "" && !isRefName(named)) throw malformed("/defaultBranch", "must be the name of a branch");
  const opened = await openRepository(context, {
    projectId,
    // Of no pipeline: secrets of the project alone open the repository.
    pipelineId: newId("pl"),
    repoUrl: given.repoUrl,
    repoCredential: given.repoCredential ?? "",
  });
  const { engine, repository } = opened;
  const branch = named === "" ? ((await withGit(() => engine.defaultBranch(repository))) ?? DEFAULT_BRANCH) : named;
  const repositoryName = repositoryPath(repository.remote).split("/").at(-1) ?? "";
  return { branch, answer: await withGit(() => readBranch(opened, branch)), opened, repositoryName };
}

async function readBranch({ engine, repository }: OpenRepository, branch: string): Promise<FolderAnswer | null> {
  try {
    return await engine.readFolder(repository, { kind: "branch", name: branch }, FOLDER, MAX_FILES);
  } catch (error) {
    const isMissing = error instanceof GitFault && error.kind === "noRef";
    if (isMissing && (await engine.isEmpty(repository))) return null;
    throw error;
  }
}

/** The pipelines of the project with a file of this branch as their definition, by the path of the file. */
export async function connectedPipelines(
  { stores }: CatalogueContext,
  projectId: ProjectId,
  repositoryUrl: string,
  branch: string,
): Promise<ReadonlyMap<string, Pipeline>> {
  const wanted = keyOfUrl(repositoryUrl);
  const found = new Map<string, Pipeline>();
  for (let page = 1; ; page++) {
    const request = { page, pageSize: PAGE_SIZE, sort: "createdAt", descending: false } as const;
    const { list } = await stores.pipelines.list({ projectId }, request);
    for (const pipeline of list) {
      const isHere = pipeline.defaultBranch === branch && keyOfUrl(pipeline.repoUrl) === wanted;
      // The oldest one stands for all.
      if (isHere && !found.has(pipeline.pipelineFilePath)) found.set(pipeline.pipelineFilePath, pipeline);
    }
    if (list.length < PAGE_SIZE) return found;
  }
}

function keyOfUrl(url: string): string | undefined {
  const remote = url === "" ? "" : parseRemote(url);
  return typeof remote === "string" ? undefined : repositoryKey(remote);
}

/** `app` for the usual file of the repository `app`, and `app-deploy-web` for `.millrace/deploy/web.yaml`. */
export function nameFor(repositoryName: string, path: string): string {
  const rest = path.slice(FOLDER.length + 1);
  const stem = rest.replace(/\.\w+$/, "").replaceAll("/", "-");
  return USUAL.test(rest) ? repositoryName : `${repositoryName}-${stem}`.slice(0, 200);
}

async function judge(
  context: CatalogueContext,
  asking: Asking,
  { projectId, opened, commit }: { projectId: ProjectId; opened: OpenRepository; commit: string },
  { path, file }: PlacedFile,
): Promise<Pick<Discovery["list"][number], "valid" | "problem" | "diagnostics">> {
  const problem = file.kind === "tooLarge" ? "is too large for a definition" : lackOf(file, { pipelineFilePath: path });
  if (problem !== "" || file.kind !== "file") return { valid: false, problem, diagnostics: [] };
  const text = file.content.toString("utf8");
  const includes = await includesAt(context, opened, commit, { path, text });
  const definition = { text, format: formatOfPath(path), includes };
  const { known, diagnostics } = await checkWithPlugins(context, asking, projectId, definition);
  return { valid: known !== null, problem: "", diagnostics };
}
