/** Tries the repository of a pipeline, and tells all that is missing. Changes nothing. */
import { z } from "zod";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import type { PipelineId } from "../../domain/ids.ts";
import type { ReadAnswer } from "../../git/git-repositories.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline, type RightsContext } from "../reaching.ts";
import { fields, id, listOf, shape } from "../shapes.ts";
import { pushProblem, readHead } from "./connect.ts";
import type { GitContext } from "./context.ts";
import { lackOf } from "./definition-at.ts";
import { malformed } from "./git-problems.ts";
import { isInGit, openRepository, type OpenRepository } from "./repository.ts";

export const RepositoryCheckShape = shape("RepositoryCheck", {
  pipelineId: id<PipelineId>(),
  branch: z.string(),
  path: z.string(),
  /** Null while the branch has no commit, and when it cannot be read. */
  headCommitSha: z.string().nullable(),
  canRead: z.boolean(),
  hasFile: z.boolean(),
  /** Whether the credential may push, as far as the server tells without a push; null when that cannot be found out. */
  canPush: z.boolean().nullable(),
  /** What is missing, and what to do; empty when nothing is. */
  problems: listOf(fields({ code: z.string(), pointer: z.string(), message: z.string() })),
});

type RepositoryCheck = z.infer<typeof RepositoryCheckShape>;

/** Throws `not_found`, and `malformed_request` for an inline definition. What the repository lacks is an answer. */
export async function checkRepository(
  context: GitContext & RightsContext,
  caller: Caller,
  { pipelineId }: { readonly pipelineId: PipelineId },
): Promise<RepositoryCheck> {
  const { found: pipeline } = await reachPipeline(context, caller, "writePipelines", pipelineId);
  if (!isInGit(pipeline)) throw malformed("/repoUrl", "is empty: the definition of this pipeline is inline");
  const { defaultBranch: branch, pipelineFilePath: path } = pipeline;
  const unread = { pipelineId, branch, path, headCommitSha: null, canRead: false, hasFile: false, canPush: null };
  let opened: OpenRepository;
  let answer: ReadAnswer | null;
  try {
    opened = await openRepository(context, pipeline);
    answer = await readHead(opened, pipeline);
  } catch (error) {
    return { ...unread, problems: problemsOf(error) };
  }
  if (answer === null) return { ...unread, canRead: true, problems: [] };
  const { commit, file } = answer;
  const lack = lackOf(file, pipeline);
  const push = await pushProblem(opened, pipeline, commit.id);
  return {
    ...unread,
    headCommitSha: commit.id,
    canRead: true,
    hasFile: lack === "",
    canPush: push === undefined,
    problems: [...fileProblems(commit.id, lack), ...(push === undefined ? [] : [push])].map(shown),
  };
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
