/** Pipeline records: created, updated, read, listed and deleted. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { asId, DEFAULT_PROJECT, newId, type PipelineId, type ProjectId, type RunId } from "../../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../../domain/names.ts";
import { RUN_STATUS_CODES } from "../../domain/status.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import type { ListPlace } from "../../stores/ports/pages.ts";
import { isArchived, type Pipeline, type Project } from "../../stores/ports/pipelines.ts";
import { type Caller, claimedIdentity, type UserCaller } from "../identity/access.ts";
import type { CatalogueContext } from "./context.ts";
import { findPipeline, noPipeline } from "../lookups.ts";
import { listFields, pageRequest, placedListView, placedPartOf, placeField, sortField } from "../lists.ts";
import { projectArchived } from "./projects.ts";
import { PROVIDERS } from "../../providers/provider.ts";
import { REPORTED } from "../commit-statuses/reporting.ts";
import { connect, type Connected, isConnectionChanged, refuseMisplaced } from "../git/connect.ts";
import { remember } from "../git/definition-at.ts";
import { isInGit } from "../git/repository.ts";
import { writeOutIncludes } from "../git/write-out-includes.ts";
import { carryOutDeletion, type DeletionContext } from "./pipeline-deletion.ts";
import { projectFactsOf } from "../project-facts.ts";
import { projectIdsFor, reach, reachPipeline, type RightsContext } from "../reaching.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { createOnce, peekRequest, type WithRequestId } from "../request-ids.ts";
import { cursorPageOf, fields, id, keyOf, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { givenName } from "../given-names.ts";
import { rfc3339 } from "../times.ts";

/** Pipelines of one page while all are searched for a status. */
const SCAN_SIZE = 100;

const text = (maxChars: number) => z.string().max(maxChars);
const plainText = (maxChars: number) => text(maxChars).regex(PLAIN_TEXT, PLAIN_TEXT_RULE);
const pipelineName = givenName(200);

/** The pipeline record of SPEC "Resources"; `name` is required to create one. */
export const updatePipelineBody = z.strictObject({
  projectId: text(64).optional(),
  name: pipelineName.optional(),
  description: text(10_000).optional(),
  repoUrl: text(2_000).optional(),
  defaultBranch: plainText(255).optional(),
  pipelineFilePath: plainText(1_000).optional(),
  saveMode: z.enum(["direct", "pr"]).optional(),
  prTargetBranch: plainText(255).optional(),
  /** The secret of the pipeline or its project that opens the repository; empty for none. */
  repoCredential: plainText(128).optional(),
  /** The software of the host, for pull requests; empty: it follows from the name of the host. */
  repoProvider: z.enum(["", ...PROVIDERS]).optional(),
  /** The secret with the token for the API of the host; empty for the one of `repoCredential`. */
  repoApiCredential: plainText(128).optional(),
  /** Which commit statuses its runs set at the host; empty: those of runs, when it names `repoApiCredential`. */
  commitStatuses: z.enum(["", ...REPORTED]).optional(),
  metadata: z.record(plainText(200), text(10_000)).optional(),
  createdBy: text(200).optional(),
});
export const createPipelineBody = updatePipelineBody.extend({ name: pipelineName });

/**
 * The status of a pipeline is that of its newest run, with `partial` shown as `failed`; without a run it is `pending`.
 */
const PIPELINE_STATUSES = ["pending", "running", "success", "failed", "cancelled", "paused"] as const;

export const listPipelinesQuery = z.strictObject({
  ...listFields,
  sort: sortField(["createdAt", "name"], "-createdAt"),
  /** Wins over `page`. */
  after: placeField.optional(),
  projectId: text(64).optional(),
  name: text(200).optional(),
  status: z.enum(PIPELINE_STATUSES).optional(),
});

/** Runs of a pipeline that are shown with it. */
const LAST_RUNS = 5;

const lastRunFields = () => ({
  runId: id<RunId>(),
  status: keyOf(RUN_STATUS_CODES),
  statusCode: wholeNumber,
  createdAt: time,
});

export const PipelineShape = shape("Pipeline", () => ({
  pipelineId: id<PipelineId>(),
  projectId: id<ProjectId>(),
  name: z.string(),
  description: z.string(),
  repoUrl: z.string(),
  defaultBranch: z.string(),
  pipelineFilePath: z.string(),
  saveMode: z.enum(["direct", "pr"]),
  prTargetBranch: z.string(),
  /** The name of the secret that opens the repository; empty without one. */
  repoCredential: z.string(),
  /** The software of the host; empty when it follows from the name of the host. */
  repoProvider: z.string(),
  /** The name of the secret with the token for the API of the host; empty for the one of `repoCredential`. */
  repoApiCredential: z.string(),
  /** Which commit statuses its runs set at the host; empty: those of runs, when it names `repoApiCredential`. */
  commitStatuses: z.enum(["", ...REPORTED]),
  metadata: mapOf(z.string()),
  createdBy: z.string(),
  createdAt: time,
  updatedAt: time,
  /** The revision; of a definition in Git, the commit that was seen last. Empty before the first definition is saved. */
  headCommitSha: z.string(),
  status: z.enum(PIPELINE_STATUSES),
  lastRun: fields(lastRunFields).nullable(),
  /** The newest runs, newest first; at most five. */
  lastRuns: listOf(fields(lastRunFields)),
}));

export const PipelinePageShape = cursorPageOf(PipelineShape);

export type PipelineView = z.infer<typeof PipelineShape>;

/** Throws `malformed_request` for an unknown project, `already_exists` when the project has a pipeline of that name. */
export async function createPipeline(
  context: CatalogueContext,
  caller: Caller,
  { requestId, ...input }: z.output<typeof createPipelineBody> & WithRequestId,
): Promise<PipelineView> {
  const projectId = input.projectId ? asId<ProjectId>(input.projectId) : DEFAULT_PROJECT;
  const { user, found: project } = await reach(context, caller, "writePipelines", {
    find: async () => {
      const found = await context.stores.pipelines.findProject(projectId);
      if (found === undefined) throw unknownProject(projectId);
      return found;
    },
    projectOf: () => projectId,
    missing: () => unknownProject(projectId),
  });
  const createdBy = claimedIdentity(user, input.createdBy, "createdBy");
  const request = { caller: user, scope: "createPipeline", requestId, body: input };
  const read = () => readNew(context, user, project, { ...input, createdBy });
  // A repository that refuses leaves the key unused: the same call may succeed later.
  const found = (await peekRequest(context, request)) === undefined ? await read() : undefined;
  return createOnce(context, {
    ...request,
    freshId: () => newId("pl"),
    find: async (pipelineId) => {
      const found = await context.stores.pipelines.find(pipelineId);
      return found && viewWithNewestRun(context, found);
    },
    create: async (pipelineId) => createAs(context, user, pipelineId, found ?? (await read())),
  });
}

/** A pipeline to be, with what its repository has. The id is one that no pipeline will have. */
async function readNew(
  context: CatalogueContext,
  user: UserCaller,
  project: Project,
  { createdBy, ...input }: z.output<typeof createPipelineBody> & { readonly createdBy: string },
): Promise<Connected> {
  const now = context.clock.now();
  const given: Pipeline = {
    pipelineId: newId("pl"),
    projectId: project.projectId,
    name: input.name,
    description: input.description ?? "",
    repoUrl: input.repoUrl ?? "",
    defaultBranch: input.defaultBranch ?? "",
    pipelineFilePath: input.pipelineFilePath ?? "",
    saveMode: input.saveMode ?? "direct",
    prTargetBranch: input.prTargetBranch ?? "",
    repoCredential: input.repoCredential ?? "",
    repoProvider: input.repoProvider ?? "",
    repoApiCredential: input.repoApiCredential ?? "",
    commitStatuses: input.commitStatuses ?? "",
    metadata: Object.entries(input.metadata ?? {}),
    createdBy,
    actor: user.name,
    createdAt: now,
    updatedAt: now,
    headRevisionId: null,
  };
  refuseMisplaced(given);
  if (isArchived(project) || (await projectFactsOf(context, project.projectId)).archived) {
    throw projectArchived(project.projectId);
  }
  return isInGit(given) ? connect(context, given) : { pipeline: given, ...UNCONNECTED };
}

async function createAs(
  context: CatalogueContext,
  user: UserCaller,
  pipelineId: PipelineId,
  { pipeline: given, ...found }: Connected,
): Promise<PipelineView> {
  const pipeline = { ...given, pipelineId };
  await recorded(user, { kind: "pipeline", id: pipelineId, name: pipeline.name, after: { ...pipeline } }, async () => {
    const outcome = await context.stores.pipelines.create(pipeline);
    if (outcome === "nameTaken") throw nameTaken(pipeline);
  });
  return pipelineView(await withHead(context, pipeline, found));
}

/** Of a pipeline whose repository was not read. */
const UNCONNECTED = { answer: null, opened: null };

/** The pipeline with the head that was read from its repository. */
async function withHead(
  context: CatalogueContext,
  pipeline: Pipeline,
  { answer, opened }: Pick<Connected, "answer" | "opened">,
): Promise<Pipeline> {
  if (answer === null || opened === null) return pipeline;
  await remember(context, pipeline, opened, answer);
  return (await context.stores.pipelines.find(pipeline.pipelineId)) ?? pipeline;
}

/**
 * Replaces the fields that are present; the other fields keep their value. Throws `not_found`, `malformed_request` when
 * the project or the creator would change, and `already_exists` for a name that is taken.
 */
export async function updatePipeline(
  context: CatalogueContext,
  caller: Caller,
  input: {
    readonly pipelineId: PipelineId;
    readonly body: z.output<typeof updatePipelineBody>;
  } & WithPrecondition<PipelineView>,
): Promise<PipelineView> {
  return changeUnmoved(() => tryToUpdate(context, caller, input));
}

async function tryToUpdate(
  context: CatalogueContext,
  caller: Caller,
  { pipelineId, body, match }: Parameters<typeof updatePipeline>[2],
): Promise<PipelineView | typeof MOVED> {
  const { user, found: stored } = await reachPipeline(context, caller, "writePipelines", pipelineId);
  match?.(await viewWithNewestRun(context, stored));
  for (const field of ["projectId", "createdBy"] as const) {
    if ((body[field] ?? "") !== "" && body[field] !== stored[field]) {
      throw malformed(`/${field}`, `${field} cannot change: it is ${JSON.stringify(stored[field])}`);
    }
  }
  const given: Pipeline = {
    ...stored,
    name: body.name ?? stored.name,
    description: body.description ?? stored.description,
    repoUrl: body.repoUrl ?? stored.repoUrl,
    defaultBranch: body.defaultBranch ?? stored.defaultBranch,
    pipelineFilePath: body.pipelineFilePath ?? stored.pipelineFilePath,
    saveMode: body.saveMode ?? stored.saveMode,
    prTargetBranch: body.prTargetBranch ?? stored.prTargetBranch,
    repoCredential: body.repoCredential ?? stored.repoCredential ?? "",
    repoProvider: body.repoProvider ?? stored.repoProvider ?? "",
    repoApiCredential: body.repoApiCredential ?? stored.repoApiCredential ?? "",
    commitStatuses: body.commitStatuses ?? stored.commitStatuses ?? "",
    metadata: body.metadata === undefined ? stored.metadata : Object.entries(body.metadata),
    // Always another time: the store tells by it whether the pipeline has been changed.
    updatedAt: Math.max(context.clock.now(), stored.updatedAt + 1),
  };
  refuseMisplaced(given);
  const { pipeline, ...found } = isConnectionChanged(stored, given)
    ? await connect(context, given)
    : { pipeline: given, ...UNCONNECTED };
  const { updatedAt, headRevisionId } = stored;
  const expected = match === undefined ? { updatedAt } : { updatedAt, headRevisionId };
  const sides = { before: { ...stored }, after: { ...pipeline } };
  const change = { kind: "pipeline", id: pipelineId, name: stored.name, ...sides } as const;
  const isUpdated = await recorded(user, change, async () => {
    const outcome = await context.stores.pipelines.update(pipeline, expected);
    if (outcome === "missing") throw noPipeline(pipelineId);
    if (outcome === "nameTaken") throw nameTaken(pipeline);
    return outcome === "updated";
  });
  if (!isUpdated) return MOVED;
  if (body.repoUrl !== "") return viewWithNewestRun(context, await withHead(context, pipeline, found));
  await writeOutIncludes(context, user, pipeline);
  return viewWithNewestRun(context, await findPipeline(context, pipelineId));
}

export async function getPipeline(
  context: CatalogueContext,
  caller: Caller,
  input: { readonly pipelineId: PipelineId },
): Promise<PipelineView> {
  const { found } = await reachPipeline(context, caller, "readPipelines", input.pipelineId);
  return viewWithNewestRun(context, found);
}

export async function listPipelines(
  context: CatalogueContext,
  caller: Caller,
  input: z.output<typeof listPipelinesQuery>,
): Promise<z.infer<typeof PipelinePageShape>> {
  const { projectIds } = await projectIdsFor(context, caller, "readPipelines");
  const filter = {
    ...(projectIds === undefined ? {} : { projectIds }),
    ...(input.projectId === undefined ? {} : { projectId: asId<ProjectId>(input.projectId) }),
    ...(input.name === undefined ? {} : { name: input.name }),
  };
  const sort = input.sort.endsWith("name") ? ("name" as const) : ("createdAt" as const);
  const placeOf = ({ pipelineId, name, createdAt }: Pipeline): ListPlace => {
    return { at: sort === "name" ? name : createdAt, id: pipelineId };
  };
  const readPage = async (page: number, pageSize: number, after: ListPlace | undefined) => {
    const request = { ...pageRequest(input), page, pageSize, sort, after };
    const found = await context.stores.pipelines.list(filter, request);
    const newest = await context.stores.aggregates.newestRuns(
      found.list.map(({ pipelineId }) => pipelineId),
      LAST_RUNS,
    );
    const rows = found.list.map((pipeline) => {
      return { view: pipelineView(pipeline, newest.get(pipeline.pipelineId)), place: placeOf(pipeline) };
    });
    return { rows, total: found.total };
  };
  const place = ({ place: at }: PipelineRow) => at;
  const view = ({ view: shown }: PipelineRow) => shown;
  if (input.status === undefined) {
    const { rows, total } = await readPage(input.page, input.pageSize, input.after);
    return placedListView({ list: rows, total }, input, place, view);
  }

  // The status is that of the newest run, which the store cannot filter by: every matching pipeline is read.
  const matching: PipelineRow[] = [];
  for (let last: ListPlace | undefined; ;) {
    const { rows } = await readPage(1, SCAN_SIZE, last);
    matching.push(...rows.filter((row) => row.view.status === input.status));
    if (rows.length < SCAN_SIZE) break;
    last = rows.at(-1)!.place;
  }
  return placedPartOf(matching, input, place, view);
}

interface PipelineRow {
  readonly view: PipelineView;
  readonly place: ListPlace;
}

/**
 * Throws `not_found`, and `conflict` while runs of the pipeline are live, also when a run begins at the same moment.
 * `force` stops the live runs; from then on the pipeline takes no trigger. Once the deletion is decided, the workers
 * finish what this call leaves undone.
 */
export async function deletePipeline(
  context: CatalogueContext & DeletionContext & RightsContext,
  caller: Caller,
  input: { readonly pipelineId: PipelineId; readonly force: boolean } & WithPrecondition<PipelineView>,
): Promise<void> {
  const { pipelineId, force, match } = input;
  const { aggregates, pipelineDeletions } = context.stores;
  const { user, found: pipeline } = await reachPipeline(context, caller, "writePipelines", pipelineId);
  match?.(await viewWithNewestRun(context, pipeline));
  // Before the live runs are read: a run that is stored after that read finds the note.
  const note = () => pipelineDeletions.note({ pipelineId, at: context.clock.now(), by: user.name, decided: force });
  const change = { kind: "pipeline", id: pipelineId, name: pipeline.name, before: { ...pipeline } } as const;
  // The change is the decision: what follows is carried out by the workers as well.
  await (force ? recorded(user, change, note) : note());
  if (!force) {
    const [live] = await aggregates.liveRuns(pipelineId, 1);
    const decide = () => recorded(user, change, () => pipelineDeletions.decide(pipelineId));
    if (live !== undefined || !(await decide())) {
      await pipelineDeletions.withdraw(pipelineId);
      const which = live === undefined ? "a new run" : `run ${live}`;
      throw new MillraceError("conflict", `${which} of the pipeline is live: stop it, or delete with ?force=true`);
    }
  }
  await carryOutDeletion(context, pipelineId, user.name);
}

export async function viewWithNewestRun(context: CatalogueContext, pipeline: Pipeline): Promise<PipelineView> {
  const newest = await context.stores.aggregates.newestRuns([pipeline.pipelineId], LAST_RUNS);
  return pipelineView(pipeline, newest.get(pipeline.pipelineId));
}

function pipelineView(pipeline: Pipeline, runs: readonly AggregateHead[] = []): PipelineView {
  const { actor: _, headRevisionId, headCommit, metadata, createdAt, updatedAt, ...shown } = pipeline;
  const status = runs[0]?.summary.status ?? "pending";
  const lastRuns = runs.map(({ rootId: runId, summary }) => {
    const statusCode = RUN_STATUS_CODES[summary.status];
    return { runId, status: summary.status, statusCode, createdAt: rfc3339(summary.createdAt) };
  });
  return {
    ...shown,
    repoCredential: shown.repoCredential ?? "",
    repoProvider: shown.repoProvider ?? "",
    repoApiCredential: shown.repoApiCredential ?? "",
    commitStatuses: shown.commitStatuses ?? "",
    metadata: Object.fromEntries(metadata),
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
    headCommitSha: (isInGit(pipeline) ? headCommit : headRevisionId) ?? "",
    status: status === "partial" ? "failed" : status,
    lastRun: lastRuns[0] ?? null,
    lastRuns,
  };
}

function malformed(pointer: string, message: string): MillraceError {
  const problems: Problem[] = [{ code: "invalid", pointer, message }];
  return new MillraceError("malformed_request", message, { problems });
}

function unknownProject(projectId: ProjectId): MillraceError {
  return malformed("/projectId", `there is no project ${JSON.stringify(projectId)}`);
}

function nameTaken({ projectId, name }: Pipeline): MillraceError {
  return new MillraceError(
    "already_exists",
    `project ${projectId} has a pipeline named ${JSON.stringify(name)} already`,
  );
}
