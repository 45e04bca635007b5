/** `millrace pipelines move` and `check`: definitions in Git repositories. */
import { EXIT } from "../../exit-codes.ts";
import { findPipeline } from "../../remote/find.ts";
import { withServer } from "../../remote/session.ts";
import { type PipelineOptions, placeFields, type PlaceInGit } from "./pipelines.ts";

export interface MoveOptions extends PipelineOptions, PlaceInGit {
  readonly message?: string;
}

/** `place`: the URL of a repository, or `inline`. */
export function movePipeline(name: string, place: string, options: MoveOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, name, options.project);
    const commit = options.message === undefined ? {} : { commitMessage: options.message };
    const body =
      place === "inline"
        ? { to: "inline" as const, ...commit }
        : { to: "git" as const, repoUrl: place, ...placeFields(options), ...commit };
    const moved = await client.post("/pipelines/{pipelineId}/spec/move", { path: { pipelineId }, body, signal });
    report.object(moved, `the definition of ${name} is ${wordsFor(moved)}, at ${moved.headCommitSha}`);
  });
}

function wordsFor(moved: { readonly repoUrl: string; readonly pipelineFilePath: string }): string {
  return moved.repoUrl === "" ? "inline" : `${moved.pipelineFilePath} of ${moved.repoUrl}`;
}

/** Exit status 1 when something is missing. */
export function checkPipeline(name: string, options: PipelineOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, name, options.project);
    const path = { pipelineId };
    const found = await client.post("/pipelines/{pipelineId}/repository/check", { path, signal });
    const problems = found.problems.map(({ pointer, message }) => `${pointer.slice(1)}: ${message}`);
    const head = found.headCommitSha ?? "no commit yet";
    const good = `${found.path} of branch ${found.branch} (${head}): nothing is missing`;
    report.object(found, ...(problems.length === 0 ? [good] : problems));
    return problems.length === 0 ? EXIT.ok : EXIT.failure;
  });
}
