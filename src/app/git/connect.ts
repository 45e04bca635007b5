/** Connects a pipeline with a repository: the fields are completed, and the repository is tried. */
import { definitionPathProblem } from "../../domain/names.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { GitFault } from "../../git/git-fault.ts";
import type { ReadAnswer } from "../../git/git-repositories.ts";
import { isRefName } from "../../git/names.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { defaultRefOf, lackOf } from "./definition-at.ts";
import { malformed, problemOf, withGit } from "./git-problems.ts";
import { targetOf } from "./propose-definition.ts";
import { openProviderOf } from "./provider-access.ts";
import { isInGit, openRepository, type OpenRepository } from "./repository.ts";

const DEFAULT_PATH = ".millrace/pipeline.yaml";
/** Of a repository that names none. */
export const DEFAULT_BRANCH = "main";

export interface Connected {
  /** With the branch and the path that the caller left out. */
  readonly pipeline: Pipeline;
  /** What the branch has; null for a repository without any commit. */
  readonly answer: ReadAnswer | null;
  /** Null for an inline definition. */
  readonly opened: OpenRepository | null;
}

/** Throws `malformed_request` for fields of Git in a pipeline that has no repository. */
export function refuseMisplaced(pipeline: Pipeline): void {
  if (isInGit(pipeline)) return;
  if (pipeline.saveMode === "pr") throw malformed("/saveMode", "`pr` needs a `repoUrl`: use `direct`");
  for (const field of ["repoCredential", "repoApiCredential", "repoProvider", "commitStatuses"] as const) {
    if ((pipeline[field] ?? "") !== "") throw malformed(`/${field}`, "needs a `repoUrl`: it is about the repository");
  }
}

const CONNECTION = [
  "repoUrl",
  "defaultBranch",
  "pipelineFilePath",
  "repoCredential",
  "repoProvider",
  "repoApiCredential",
  "commitStatuses",
  "saveMode",
  "prTargetBranch",
] as const;

/** Whether an update changes where the definition is, or how it is reached. */
export function isConnectionChanged(before: Pipeline, after: Pipeline): boolean {
  return isInGit(after) && CONNECTION.some((field) => (before[field] ?? "") !== (after[field] ?? ""));
}

/**
 * Reads the definition of the branch with the credential of the pipeline. A branch without the file is good: the first save
 * makes it. Throws `malformed_request`, `git_refused` and `unavailable`, which name the field that is in the way.
 */
export async function connect(context: GitContext, given: Pipeline): Promise<Connected> {
  const path = given.pipelineFilePath === "" ? DEFAULT_PATH : given.pipelineFilePath;
  const wrong = definitionPathProblem(path);
  if (wrong !== undefined) throw malformed("/pipelineFilePath", wrong);
  if (given.defaultBranch !== "" && !isRefName(given.defaultBranch)) {
    throw malformed("/defaultBranch", "must be the name of a branch");
  }
  const opened = await openRepository(context, given);
  const { engine, repository } = opened;
  const defaultBranch =
    given.defaultBranch === ""
      ? ((await withGit(() => engine.defaultBranch(repository))) ?? DEFAULT_BRANCH)
      : given.defaultBranch;
  const pipeline = { ...given, defaultBranch, pipelineFilePath: path };
  const answer = await readHead(opened, pipeline);
  if (pipeline.saveMode === "pr") await tryProposals(context, opened, pipeline);
  // The provider and the token must be known; whether the token may set statuses, the first status shows.
  if (["run", "jobs"].includes(pipeline.commitStatuses ?? "")) await openProviderOf(context, pipeline);
  const isMissing = answer === null || answer.file.kind === "missing";
  const lack = isMissing ? "" : lackOf(answer.file, pipeline);
  if (lack === "") return { pipeline, answer, opened };
  throw refused({ code: "git_file", pointer: "/pipelineFilePath", message: `commit ${answer!.commit.id} ${lack}` });
}

/** A name that no branch of millrace has. */
const NO_BRANCH = "millrace/none";

/** Throws unless the host answers with this token, and the target branch exists. */
export async function tryProposals(
  context: GitContext,
  { engine, repository }: OpenRepository,
  pipeline: Pipeline,
): Promise<void> {
  const provider = await openProviderOf(context, pipeline);
  const target = targetOf(pipeline);
  if (!isRefName(target)) throw malformed("/prTargetBranch", "must be the name of a branch");
  await withGit(() => provider.find(NO_BRANCH, target));
  if (target === pipeline.defaultBranch) return;
  const isThere = (await withGit(() => engine.branchesFrom(repository, target))).includes(target);
  if (isThere) return;
  const message = `the repository has no branch ${JSON.stringify(target)}`;
  throw refused({ code: "git_no_ref", pointer: "/prTargetBranch", message });
}

/** What the default branch has; null for a repository without any commit. */
export async function readHead({ engine, repository }: OpenRepository, pipeline: Pipeline): Promise<ReadAnswer | null> {
  const query = { ref: defaultRefOf(pipeline), path: pipeline.pipelineFilePath };
  return withGit(async () => {
    try {
      return await engine.read(repository, query);
    } catch (error) {
      const isMissing = error instanceof GitFault && error.kind === "noRef";
      if (isMissing && (await engine.isEmpty(repository))) return null;
      throw error;
    }
  });
}

/** What the credential lacks for saves; undefined when it has the right to push, as far as the server tells. */
export async function pushProblem(
  { engine, repository }: OpenRepository,
  { defaultBranch }: Pipeline,
  head: string,
): Promise<Problem | undefined> {
  try {
    await engine.checkPush(repository, defaultBranch, head);
    return undefined;
  } catch (error) {
    if (error instanceof GitFault) return problemOf(error);
    throw error;
  }
}

function refused(problem: Problem): MillraceError {
  return new MillraceError("git_refused", problem.message, { problems: [problem] });
}
