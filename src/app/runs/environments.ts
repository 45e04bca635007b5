/** What was deployed where: the environments to which pipelines deploy, and the deployments to one of them. */
import { z } from "zod";
import { asId, type JobRunId, type PipelineId, type ProjectId, type RunId } from "../../domain/ids.ts";
import { JOB_STATUS_CODES, type JobStatus } from "../../domain/status.ts";
import type { AggregateHead, Deployment, EnvironmentKey } from "../../stores/ports/aggregates.ts";
import type { Caller } from "../identity/access.ts";
import { afterField, count, cursorOf } from "../lists.ts";
import { projectIdsFor, reachProject } from "../reaching.ts";
import { fields, id, listOf, shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { RunsContext } from "./context.ts";
import { projectsOf } from "./find-runs.ts";

const MAX_LIMIT = 100;
const JOB_STATUSES = Object.keys(JOB_STATUS_CODES) as JobStatus[];
const idText = z.string().min(1).max(64);
const environmentName = z.string().min(1).max(200);

/** Behind every name of an environment. */
const LAST_NAME = "\u{10ffff}";
/** A name has up to 200 characters, each of up to four bytes or an escape. */
const MAX_CURSOR_CHARS = 2_000;
const keyText = z.tuple([z.string(), z.string(), z.string()]);

const afterEnvironment = z
  .string()
  .max(MAX_CURSOR_CHARS)
  .transform((text, check): EnvironmentKey => {
    const place = readCursor(text);
    if (place !== undefined) return place;
    check.addIssue("must be `next` of an earlier page");
    return z.NEVER;
  });

export const environmentsQuery = z.strictObject({
  limit: count(MAX_LIMIT).default(20),
  after: afterEnvironment.optional(),
  projectId: idText.optional(),
  /** Only environments of this name. */
  environment: environmentName.optional(),
});

export const deploymentsQuery = z.strictObject({
  limit: count(MAX_LIMIT).default(20),
  after: afterField.optional(),
  projectId: idText.default("default"),
  environment: environmentName,
  pipelineId: idText.optional(),
  status: z.enum(JOB_STATUSES).optional(),
});

const DeploymentShape = shape("Deployment", () => ({
  runId: id<RunId>(),
  jobId: id<JobRunId>(),
  pipelineId: id<PipelineId>(),
  /** The name of the job. */
  job: z.string(),
  /** Of the job, which has begun. */
  status: z.enum(JOB_STATUSES),
  startedAt: time,
  endedAt: time.nullable(),
  /** What the run has built; the revision of an inline definition. */
  commitSha: z.string(),
  ref: z.string(),
  triggeredBy: z.string(),
}));
type DeploymentView = z.infer<typeof DeploymentShape>;

const EnvironmentShape = shape("Environment", () => ({
  projectId: id<ProjectId>(),
  environment: z.string(),
  pipelineId: id<PipelineId>(),
  /** The name of the pipeline. */
  pipeline: z.string(),
  /** The newest success, which is what is there; null for none. */
  current: DeploymentShape.nullable(),
  /** The newest one, whatever became of it. */
  last: DeploymentShape,
}));

export const EnvironmentPageShape = fields(() => ({ list: listOf(EnvironmentShape), next: z.string().nullable() }));
export const DeploymentPageShape = fields(() => ({ list: listOf(DeploymentShape), next: z.string().nullable() }));

/** For each environment and each pipeline that deploys to it, by project, name and pipeline. */
export async function listEnvironments(
  context: RunsContext,
  caller: Caller,
  { limit, after, projectId, environment }: z.output<typeof environmentsQuery>,
): Promise<z.infer<typeof EnvironmentPageShape>> {
  const { projectIds } = await projectIdsFor(context, caller, "readRuns");
  const within = projectsOf(projectIds, projectId)?.toSorted(inBytes);
  const found = await environmentsBehind(context, { within, environment }, limit + 1, after);
  const list = found.slice(0, limit);
  const heads = new Heads(context);
  const views = await Promise.all(list.map((key) => environmentView(context, key, heads)));
  const last = found.length > limit ? list.at(-1) : undefined;
  return { list: views.flatMap((view) => view ?? []), next: last === undefined ? null : cursorOfKey(last) };
}

/** The deployments to an environment, the newest first. Throws `not_found`. */
export async function listDeployments(
  context: RunsContext,
  caller: Caller,
  { limit, after, projectId: project, environment, pipelineId, status }: z.output<typeof deploymentsQuery>,
): Promise<z.infer<typeof DeploymentPageShape>> {
  const projectId = asId<ProjectId>(project);
  await reachProject(context, caller, "readRuns", projectId);
  const ofPipeline = pipelineId === undefined ? {} : { pipelineId: asId<PipelineId>(pipelineId) };
  const filter = { projectId, environment, status, ...ofPipeline };
  const found = await context.stores.deployments.list(filter, { limit: limit + 1, after });
  const list = found.slice(0, limit);
  const heads = new Heads(context);
  const views = await Promise.all(list.map((deployment) => deploymentView(deployment, heads)));
  const last = found.length > limit ? list.at(-1) : undefined;
  return {
    list: views.flatMap((view) => view ?? []),
    next: last === undefined ? null : cursorOf({ at: last.startedAt, id: last.jobId }),
  };
}

interface Wanted {
  /** Projects in the order of their bytes; undefined for all. */
  readonly within: readonly ProjectId[] | undefined;
  readonly environment: string | undefined;
}

/** Goes from one environment to the next in an index, and passes those over that are not wanted, all of a project at once. */
async function environmentsBehind(
  { stores }: RunsContext,
  { within, environment }: Wanted,
  limit: number,
  after: EnvironmentKey = placeOf("", ""),
): Promise<readonly EnvironmentKey[]> {
  const found: EnvironmentKey[] = [];
  for (let place: EnvironmentKey | undefined = after; place !== undefined && found.length < limit;) {
    const next: EnvironmentKey | undefined = await stores.deployments.nextEnvironment(place);
    if (next === undefined) break;
    if (within?.includes(next.projectId) === false) {
      const projectId = within.find((one) => inBytes(one, next.projectId) > 0);
      place = projectId && placeOf(projectId, environment ?? "");
    } else if (environment !== undefined && next.environment !== environment) {
      const isBefore = inBytes(next.environment, environment) < 0;
      place = placeOf(next.projectId, isBefore ? environment : LAST_NAME);
    } else {
      found.push(next);
      place = next;
    }
  }
  return found;
}

/** The place before all pipelines of an environment. */
function placeOf(projectId: string, environment: string): EnvironmentKey {
  return { projectId: asId<ProjectId>(projectId), environment, pipelineId: asId<PipelineId>("") };
}

/** The order of the stores. */
function inBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Undefined when its runs were removed meanwhile. */
async function environmentView(
  { stores }: RunsContext,
  key: EnvironmentKey,
  heads: Heads,
): Promise<z.infer<typeof EnvironmentShape> | undefined> {
  const [newest] = await stores.deployments.list(key, { limit: 1 });
  if (newest === undefined) return undefined;
  const [success] =
    newest.status === "success" ? [newest] : await stores.deployments.list({ ...key, status: "success" }, { limit: 1 });
  const [last, current, pipeline] = await Promise.all([
    deploymentView(newest, heads),
    success && deploymentView(success, heads),
    stores.pipelines.find(key.pipelineId),
  ]);
  return last && { ...key, pipeline: pipeline?.name ?? "", current: current ?? null, last };
}

async function deploymentView(deployment: Deployment, heads: Heads): Promise<DeploymentView | undefined> {
  const { runId, jobId, pipelineId, job, status, startedAt, endedAt } = deployment;
  const head = await heads.of(runId);
  if (head === undefined) return undefined;
  const { commitSha, triggeredBy, trigger } = head.origin;
  const times = { startedAt: rfc3339(startedAt), endedAt: rfc3339(endedAt) };
  return { runId, jobId, pipelineId, job, status, ...times, commitSha, ref: trigger.ref, triggeredBy };
}

/** Heads of runs, each of which is read once. */
class Heads {
  readonly #context: RunsContext;
  readonly #read = new Map<RunId, Promise<AggregateHead | undefined>>();

  constructor(context: RunsContext) {
    this.#context = context;
  }

  of(runId: RunId): Promise<AggregateHead | undefined> {
    const read = this.#read.get(runId) ?? this.#context.stores.aggregates.loadHead(runId);
    this.#read.set(runId, read);
    return read;
  }
}

function cursorOfKey({ projectId, environment, pipelineId }: EnvironmentKey): string {
  return Buffer.from(JSON.stringify([projectId, environment, pipelineId])).toString("base64url");
}

function readCursor(text: string): EnvironmentKey | undefined {
  try {
    const [projectId, environment, pipelineId] = keyText.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { ...placeOf(projectId, environment), pipelineId: asId<PipelineId>(pipelineId) };
  } catch {
    return undefined;
  }
}
