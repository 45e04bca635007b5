/** Connects a pipeline with a repository: the fields are completed, and the repository is tried. */
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { GitFault } from "../../git/git-fault.ts";
import type { ReadAnswer } from "../../git/git-repositories.ts";
import { isRefName, pathProblem } from "../../git/names.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { defaultRefOf, lackOf } from "./definition-at.ts";
import { malformed, problemOf, withGit } from "./git-problems.ts";
import { isInGit, openRepository, type OpenRepository } from "./repository.ts";

const DEFAULT_PATH = ".millrace/pipeline.yaml";
const DEFAULT_BRANCH = "main";

export interface Connected {
  /** With the branch and the path that the caller left out. */
  readonly pipeline: Pipeline;
  /** What the branch has; null for a repository without any commit. */
  readonly answer: ReadAnswer | null;
}

/** Throws `malformed_request` for fields of Git in a pipeline that has no repository, and for `pr`. */
export function refuseMisplaced(pipeline: Pipeline): void {
  if (pipeline.saveMode === "pr") {
    throw malformed("/saveMode", "must be `direct`: pull requests of definitions come later");
  }
  if (!isInGit(pipeline) && (pipeline.repoCredential ?? "") !== "") {
    throw malformed("/repoCredential", "needs a `repoUrl`: it names the secret for the repository");
  }
}

/** Whether an update changes where the definition is, or how it is reached. */
export function isConnectionChanged(before: Pipeline, after: Pipeline): boolean {
  return (
    isInGit(after) &&
    (["repoUrl", "defaultBranch", "pipelineFilePath", "repoCredential"] as const).some(
      (field) => (before[field] ?? "") !== (after[field] ?? ""),
    )
  );
}

/**
 * Reads the definition of the branch with the credential of the pipeline. A branch without the file is good: the first save
 * makes it. Throws `malformed_request`, `git_refused` and `unavailable`, which name the field that is in the way.
 */
export async function connect(context: GitContext, given: Pipeline): Promise<Connected> {
  const path = given.pipelineFilePath === "" ? DEFAULT_PATH : given.pipelineFilePath;
  const wrong = pathProblem(path);
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
  const isMissing = answer === null || answer.file.kind === "missing";
  const lack = isMissing ? "" : lackOf(answer.file, pipeline);
  if (lack === "") return { pipeline, answer };
  throw refused({ code: "git_file", pointer: "/pipelineFilePath", message: `commit ${answer!.commit.id} ${lack}` });
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
