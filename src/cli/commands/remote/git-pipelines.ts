/** `millrace pipelines move`, `check`, `statuses`, `webhook` and `discover`: definitions in Git repositories. */
import { randomUUID } from "node:crypto";
import type { MillraceClient, Schemas } from "../../../../clients/typescript/src/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { UsageError } from "../../command-line.ts";
import { findPipeline, findProject } from "../../remote/find.ts";
import type { Column } from "../../remote/report.ts";
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

const REPORTED = { off: "off", run: "run", jobs: "jobs", default: "" } as const;

/** `which`: a key of {@link REPORTED}. */
export function chooseStatuses(
  name: string,
  which: string,
  options: PipelineOptions,
  signal: AbortSignal,
): Promise<number> {
  if (!Object.hasOwn(REPORTED, which)) {
    throw new UsageError(`${JSON.stringify(which)} is none of ${Object.keys(REPORTED).join(", ")}`);
  }
  const commitStatuses = REPORTED[which as keyof typeof REPORTED];
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, name, options.project);
    const path = { pipelineId };
    const changed = await client.put("/pipelines/{pipelineId}", { path, body: { commitStatuses }, signal });
    report.object(changed, `runs of ${name} set commit statuses: ${which}`);
  });
}

export interface WebhookOptions extends PipelineOptions {
  readonly check?: boolean;
}

/** Makes or repairs the webhook at the host of the repository; with `check`, tells what is wrong. Exit status 1 for problems. */
export function connectWebhook(name: string, options: WebhookOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { pipelineId } = await findPipeline(client, name, options.project);
    const path = { pipelineId };
    const found = await (options.check === true
      ? client.post("/pipelines/{pipelineId}/repository/webhook/check", { path, signal })
      : client.post("/pipelines/{pipelineId}/repository/webhook", { path, signal }));
    const words = {
      made: "made the webhook",
      repaired: "repaired the webhook",
      unchanged: "the webhook is as it should be",
    };
    const good = `${words[found.outcome]} at ${found.provider}, which calls ${found.address}`;
    const problems = found.problems.map(({ code, message }) => `${code}: ${message}`);
    const next = "next: `millrace pipelines webhook` without --check makes or repairs it";
    report.object(
      found,
      ...(problems.length === 0 ? [good] : [...problems, ...(options.check === true ? [next] : [])]),
    );
    return problems.length === 0 ? EXIT.ok : EXIT.failure;
  });
}

export interface DiscoverOptions extends PipelineOptions {
  readonly branch?: string;
  readonly credential?: string;
  readonly connect: readonly string[];
  readonly all?: boolean;
}

/** Lists the definitions of a repository, or makes pipelines of those that are named. Exit status 1 when one is refused. */
export function discover(url: string, options: DiscoverOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const projectId =
      options.project === undefined ? "default" : (await findProject(client, options.project)).projectId;
    const path = { projectId };
    const { branch, credential } = options;
    const place = { repoUrl: url, ...placeFields({ ...(branch && { branch }), ...(credential && { credential }) }) };
    if (options.connect.length === 0 && options.all !== true) {
      const found = await client.post("/projects/{projectId}/repository/discover", { path, body: place, signal });
      if (report.isJson) report.json(found);
      else report.list(found.list, COLUMNS, `no definitions below .millrace/ of branch ${found.branch}`);
      if (found.hasMore) process.stderr.write("the folder has more files than are listed\n");
      return EXIT.ok;
    }
    const paths = options.all === true ? await validPaths(client, path, place, signal) : options.connect;
    const body = { ...place, files: paths.map((each) => ({ path: each })), requestId: randomUUID() };
    const made = await client.post("/projects/{projectId}/repository/pipelines", { path, body, signal });
    report.object(made, ...made.list.map(lineFor));
    return made.list.some(({ outcome }) => outcome === "refused") ? EXIT.failure : EXIT.ok;
  });
}

type Discovered = Schemas["Discovery"]["list"][number];

const COLUMNS: readonly Column<Discovered>[] = [
  { title: "path", text: ({ path }) => path },
  { title: "name", text: ({ name }) => name },
  { title: "pipeline", text: ({ pipeline }) => pipeline?.pipelineId ?? "-" },
  { title: "problem", text: wordsForProblem },
];

function wordsForProblem({ problem, diagnostics }: Discovered): string {
  if (problem !== "") return problem;
  const [first, ...rest] = diagnostics.filter(({ severity }) => severity === "error");
  if (first === undefined) return "-";
  const more = rest.length === 0 ? "" : ` (and ${rest.length} more)`;
  return `${first.line}:${first.column} ${first.message}${more}`;
}

async function validPaths(
  client: MillraceClient,
  path: { readonly projectId: string },
  body: { readonly repoUrl: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { list } = await client.post("/projects/{projectId}/repository/discover", { path, body, signal });
  const valid = list.filter((found) => found.valid).map((found) => found.path);
  if (valid.length === 0) throw new UsageError("the repository has no valid definition below .millrace/");
  return valid;
}

function lineFor({ path, name, outcome, pipelineId, problem }: Schemas["MadePipelines"]["list"][number]): string {
  switch (outcome) {
    case "created":
      return `${path}: created ${name} (${pipelineId})`;
    case "connected":
      return `${path}: is the definition of ${name} (${pipelineId}) already`;
    case "refused":
      return `${path}: ${problem}`;
  }
}
