/** Tries the repository of a pipeline, and tells all that is missing. Changes nothing. */
import { z } from "zod";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { formatOfPath } from "../../domain/names.ts";
import type { PipelineId } from "../../domain/ids.ts";
import { GitFault } from "../../git/git-fault.ts";
import type { ReadAnswer } from "../../git/git-repositories.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { CatalogueContext } from "../catalogue/context.ts";
import { askingFor, checkWithPlugins } from "../catalogue/plugin-lookup.ts";
import { whyUnknown } from "../catalogue/required-definition.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline, type RightsContext } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import { pushProblem, readHead, tryProposals } from "./connect.ts";
import type { GitContext } from "./context.ts";
import { lackOf } from "./definition-at.ts";
import { includesAt } from "./includes.ts";
import { malformed } from "./git-problems.ts";
import { openProviderOf } from "./provider-access.ts";
import { isInGit, openRepository, type OpenRepository } from "./repository.ts";

export const RepositoryCheckShape = shape("RepositoryCheck", () => ({
  pipelineId: id<PipelineId>(),
  branch: z.string(),
  path: z.string(),
  /** Null while the branch has no commit, and when it cannot be read. */
  headCommitSha: z.string().nullable(),
  canRead: z.boolean(),
  hasFile: z.boolean(),
  /** Whether the credential may push, as far as the server tells without a push; null when that cannot be found out. */
  canPush: z.boolean().nullable(),
  /** Whether saves can be proposed, as far as the host tells without a proposal; null unless `saveMode` is `pr`. */
  canPropose: z.boolean().nullable(),
  /** Whether the token may read the webhooks of the repository; null where the host has no known API or no token. */
  canManageHooks: z.boolean().nullable(),
  /** What is missing, and what to do; empty when nothing is. */
  problems: listOf(fields(() => ({ code: z.string(), pointer: z.string(), message: z.string() }))),
}));

export type RepositoryCheck = z.infer<typeof RepositoryCheckShape>;

/** Throws `not_found`, and `malformed_request` for an inline definition. What the repository lacks is an answer. */
export async function checkRepository(
  context: CatalogueContext & RightsContext,
  caller: Caller,
  { pipelineId }: { readonly pipelineId: PipelineId },
): Promise<RepositoryCheck> {
  const { found: pipeline } = await reachPipeline(context, caller, "writePipelines", pipelineId);
  if (!isInGit(pipeline)) throw malformed("/repoUrl", "is empty: the definition of this pipeline is inline");
  const { defaultBranch: branch, pipelineFilePath: path } = pipeline;
  const unread = { pipelineId, branch, path, headCommitSha: null, canRead: false, hasFile: false };
  const untried = { canPush: null, canPropose: null, canManageHooks: null };
  let opened: OpenRepository;
  let answer: ReadAnswer | null;
  try {
    opened = await openRepository(context, pipeline);
    answer = await readHead(opened, pipeline);
  } catch (error) {
    return { ...unread, ...untried, problems: problemsOf(error) };
  }
  const { problems: atHost, ...host } = await tryHost(context, opened, pipeline);
  if (answer === null) return { ...unread, ...host, canRead: true, canPush: null, problems: atHost };
  const { commit, file } = answer;
  const lack = lackOf(file, pipeline);
  const wrong = lack === "" ? await definitionProblem(context, opened, pipeline, answer) : "";
  const push = await pushProblem(opened, pipeline, commit.id);
  return {
    ...unread,
    headCommitSha: commit.id,
    canRead: true,
    hasFile: lack === "",
    canPush: push === undefined,
    ...host,
    problems: [
      ...[...fileProblems(commit.id, lack || wrong), ...(push === undefined ? [] : [push])].map(shown),
      ...atHost,
    ],
  };
}

type AtHost = Pick<RepositoryCheck, "canPropose" | "canManageHooks" | "problems">;

/** What the token may do at the API of the host. */
async function tryHost(context: GitContext, opened: OpenRepository, pipeline: Pipeline): Promise<AtHost> {
  const canManageHooks = await mayManageHooks(context, pipeline);
  if (pipeline.saveMode !== "pr") return { canPropose: null, canManageHooks, problems: [] };
  try {
    await tryProposals(context, opened, pipeline);
    return { canPropose: true, canManageHooks, problems: [] };
  } catch (error) {
    return { canPropose: false, canManageHooks, problems: problemsOf(error) };
  }
}

/** Null also for a host that cannot be reached now. */
async function mayManageHooks(context: GitContext, pipeline: Pipeline): Promise<boolean | null> {
  try {
    const provider = await openProviderOf(context, pipeline);
    await provider.hooks();
    return true;
  } catch (error) {
    if (error instanceof MillraceError) return null;
    if (!(error instanceof GitFault)) throw error;
    return error.mayPass ? null : false;
  }
}

/** What is wrong with the definition of a commit, in words that go on after the commit; empty for a valid one. */
async function definitionProblem(
  context: CatalogueContext,
  opened: OpenRepository,
  { projectId, pipelineFilePath: path }: Pipeline,
  { commit, file }: ReadAnswer,
): Promise<string> {
  if (file.kind !== "file") return "";
  const text = file.content.toString("utf8");
  const includes = await includesAt(context, opened, commit.id, { path, text });
  const definition = { text, format: formatOfPath(path), includes };
  const checked = await checkWithPlugins(context, askingFor(context, projectId), projectId, definition);
  return checked.known === null ? `cannot be run: ${whyUnknown(checked, path).message}` : "";
}

function problemsOf(error: unknown): RepositoryCheck["problems"] {
  if (error instanceof MillraceError && error.problems.length > 0) return error.problems.map(shown);
  throw error;
}

function fileProblems(commit: string, lack: string): readonly Problem[] {
  return lack === "" ? [] : [{ code: "git_file", pointer: "/pipelineFilePath", message: `commit ${commit} ${lack}` }];
}

function shown({ code, pointer, message }: Problem): RepositoryCheck["problems"][number] {
  return { code, pointer, message };
}
