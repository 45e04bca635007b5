/**
 * Identifiers: prefixed ULIDs, branded so that one kind cannot stand in for another. Random ones are made at the
 * edges; everything inside a run is derived from the run's id, so that a repeat of the same decision names the
 * same objects.
 */
import { hash, randomFillSync } from "node:crypto";
import { decodeTime, encodeTime, monotonicFactory } from "ulid";

declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

export type RunId = Branded<"run">;
export type JobRunId = Branded<"job">;
export type StepRunId = Branded<"step">;
export type PipelineId = Branded<"pipeline">;
export type ProjectId = Branded<"project">;
export type TenantId = Branded<"tenant">;
export type TeamId = Branded<"team">;
export type RevisionId = Branded<"revision">;
export type AgentId = Branded<"agent">;
export type UserId = Branded<"user">;
export type TokenId = Branded<"token">;
export type SessionId = Branded<"session">;
export type CommandId = Branded<"command">;
export type ApprovalId = Branded<"approval">;
export type GroupId = Branded<"group">;
export type ScheduleId = Branded<"schedule">;
export type TimetableId = Branded<"timetable">;
export type ArtifactId = Branded<"artifact">;
export type PackageId = Branded<"package">;
export type CacheId = Branded<"cache">;
export type UploadId = Branded<"upload">;
export type AuditId = Branded<"audit">;
export type WebhookId = Branded<"webhook">;
export type DeliveryId = Branded<"delivery">;
export type HookId = Branded<"hook">;
/** The id of an aggregate: the id of its root actor. */
export type RootId = RunId | GroupId | ScheduleId | TimetableId;

interface IdByPrefix {
  run: RunId;
  job: JobRunId;
  step: StepRunId;
  pl: PipelineId;
  prj: ProjectId;
  tnt: TenantId;
  team: TeamId;
  rev: RevisionId;
  /** Of a definition that was proposed by a pull request. */
  prp: RevisionId;
  agt: AgentId;
  usr: UserId;
  tok: TokenId;
  ses: SessionId;
  cmd: CommandId;
  apr: ApprovalId;
  grp: GroupId;
  art: ArtifactId;
  pkg: PackageId;
  upl: UploadId;
  aud: AuditId;
  whk: WebhookId;
  hook: HookId;
  hdl: DeliveryId;
}

/** The library asks for one random number for each character; one call to the system fills this for many of them. */
const random = Buffer.alloc(4_096);
let randomUsed = random.length;
const nextUlid = monotonicFactory(nextRandom);
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;
const CODES = Array.from(CROCKFORD, (char) => char.charCodeAt(0));
/** Where {@link derive} puts a text together: `+=` would leave a tree of strings for each id. */
const tailBytes = Buffer.alloc(RANDOM_CHARS);

/** A new random id, for example `run_01JD...`. Ids of one process sort by the time of their creation. */
export function newId<P extends keyof IdByPrefix>(prefix: P): IdByPrefix[P] {
  return `${prefix}_${nextUlid()}` as IdByPrefix[P];
}

/** From 0 up to, and without, 1, in steps of 1/256. */
function nextRandom(): number {
  if (randomUsed === random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  return random[randomUsed++]! / 256;
}

/** The tenant that owns everything of an installation that has no other tenant. */
export const DEFAULT_TENANT = asId<TenantId>("default");

/** The project that an installation begins with. */
export const DEFAULT_PROJECT = asId<ProjectId>("default");

/** The time at which the id of a run was made, Unix milliseconds: the time of its trigger. */
export function timeOf(runId: RunId): number {
  return decodeTime(runId.slice(runId.indexOf("_") + 1));
}

/**
 * The id of attempt `attempt` (from 1) of the job at `jobIndex` (from 0, in plan order) of a run; with `cell` (from 0),
 * of a cell that was made when the job began.
 */
export function jobRunId(runId: RunId, jobIndex: number, attempt: number, cell: number | null = null): JobRunId {
  return derive("job", runId, cell === null ? `${jobIndex}/${attempt}` : `${jobIndex}.${cell}/${attempt}`);
}

/** The id of attempt `attempt` (from 1) of the step at `stepIndex` (from 0) of a job run. */
export function stepRunId(runId: RunId, jobId: JobRunId, stepIndex: number, attempt: number): StepRunId {
  return derive("step", runId, `${jobId}/${stepIndex}/${attempt}`);
}

/**
 * The id of the approval before a stage or a job (positions from 0, in plan order; for a matrix, the position of its
 * first cell).
 */
export function approvalId(
  runId: RunId,
  gate: { readonly run: true } | { readonly stage: number } | { readonly job: number },
): ApprovalId {
  if ("run" in gate) return derive("apr", runId, "approval of the run");
  return derive("apr", runId, "stage" in gate ? `stage ${gate.stage}` : `approval of job ${gate.job}`);
}

/**
 * The id of the definition of an ad hoc run: the definition belongs to the run, and was never the head of a pipeline.
 */
export function adHocRevisionId(runId: RunId): RevisionId {
  return asId<RevisionId>(`adh_${runId.slice(runId.indexOf("_") + 1)}`);
}

/** True for an id from {@link adHocRevisionId}. */
export function isAdHocRevision(revisionId: string): boolean {
  return revisionId.startsWith("adh_");
}

/**
 * The id of a definition in Git that is not the head of its pipeline. The same text at the same path, with the same `includes`,
 * has one id.
 */
export function gitRevisionId(pipelineId: PipelineId, path: string, blob: string, includes?: unknown): RevisionId {
  const parts = [pipelineId, path, blob, ...(includes === undefined ? [] : [includes])];
  return asId<RevisionId>(`git_${hash("sha256", JSON.stringify(parts)).slice(0, 26)}`);
}

/** The id of the artifact with this name that a step sends under one grant. */
export function artifactIdOf(runId: RunId, stepRun: StepRunId, token: number, name: string): ArtifactId {
  return derive("art", runId, `${stepRun}/${token}/${name}`);
}

/** The id of the cache entry of a project with this key; `version` is the digest from `cacheVersion`. */
export function cacheIdOf(projectId: ProjectId, version: string, key: string): CacheId {
  return asId<CacheId>(`cch_${digestOf(projectId, version, key)}`);
}

/** The id of the content that a step's agent sends for a cache entry. Other content has another id. */
export function cacheBlobIdOf(cacheId: CacheId, stepRun: StepRunId, token: number, sha256: string): string {
  return `cchb_${digestOf(cacheId, stepRun, `${token}`, sha256)}`;
}

/** The id of the group with this name in a project. */
export function groupIdOf(projectId: ProjectId, name: string): GroupId {
  return asId<GroupId>(`grp_${digestOf(projectId, name)}`);
}

/** The id of the schedule that a trigger of this name has in a pipeline. */
export function scheduleIdOf(pipelineId: PipelineId, name: string): ScheduleId {
  return asId<ScheduleId>(`sch_${digestOf(pipelineId, name)}`);
}

/** The id of the timetable of a pipeline. */
export function timetableIdOf(pipelineId: PipelineId): TimetableId {
  return asId<TimetableId>(`tmt_${digestOf(pipelineId)}`);
}

/** The id of a run that was decided on at `now`, Unix milliseconds; `key` is that of its start. */
export function scheduledRunId(key: string, now: number): RunId {
  const digest = hash("sha256", key, "binary");
  const tail = Array.from({ length: RANDOM_CHARS }, (_, at) => CROCKFORD[digest.charCodeAt(at) & 31]).join("");
  return asId<RunId>(`run_${encodeTime(now, TIME_CHARS)}${tail}`);
}

/** The id of a command from an actor to another aggregate. The same command, sent again, has the same id. */
export function commandIdOf(...path: readonly string[]): CommandId {
  return asId<CommandId>(`cmd_${digestOf(...path)}`);
}

/** Takes a text as an id of one kind. It does not check the form of the id, nor that such an object exists. */
export function asId<T extends Branded<string>>(text: string): T {
  return text as T;
}

function digestOf(...path: readonly string[]): string {
  return hash("sha256", JSON.stringify(path), "hex").slice(0, 32);
}

function derive<P extends keyof IdByPrefix>(prefix: P, runId: RunId, path: string): IdByPrefix[P] {
  const from = runId.indexOf("_") + 1;
  // A run of thousands of steps derives as many ids in one turn: one call and no buffer cost a third of a `Hash` object.
  const digest = hash("sha256", `${runId}/${path}`, "binary");
  for (let i = 0; i < RANDOM_CHARS; i++) tailBytes[i] = CODES[digest.charCodeAt(i) & 31]!;
  return `${prefix}_${runId.slice(from, from + TIME_CHARS)}${tailBytes.toString("latin1")}` as IdByPrefix[P];
}
