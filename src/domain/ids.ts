/**
 * Identifiers: prefixed ULIDs, branded so that one kind cannot stand in for another. Random ones are made at the
 * edges; everything inside a run is derived from the run's id, so that a repeat of the same decision names the
 * same objects.
 */
import { createHash } from "node:crypto";
import { decodeTime, monotonicFactory } from "ulid";

declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

export type RunId = Branded<"run">;
export type JobRunId = Branded<"job">;
export type StepRunId = Branded<"step">;
export type PipelineId = Branded<"pipeline">;
export type ProjectId = Branded<"project">;
export type RevisionId = Branded<"revision">;
export type AgentId = Branded<"agent">;
export type UserId = Branded<"user">;
export type TokenId = Branded<"token">;
export type CommandId = Branded<"command">;
export type ApprovalId = Branded<"approval">;
export type GroupId = Branded<"group">;
export type ArtifactId = Branded<"artifact">;
export type PackageId = Branded<"package">;
export type CacheId = Branded<"cache">;
/** What an aggregate is known by. */
export type RootId = RunId | GroupId;

interface IdByPrefix {
  run: RunId;
  job: JobRunId;
  step: StepRunId;
  pl: PipelineId;
  prj: ProjectId;
  rev: RevisionId;
  agt: AgentId;
  usr: UserId;
  tok: TokenId;
  cmd: CommandId;
  apr: ApprovalId;
  grp: GroupId;
  art: ArtifactId;
  pkg: PackageId;
}

const nextUlid = monotonicFactory();
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

/** A fresh id, for example `run_01JD...`; sorts by the time of its making within one process. */
export function newId<P extends keyof IdByPrefix>(prefix: P): IdByPrefix[P] {
  return `${prefix}_${nextUlid()}` as IdByPrefix[P];
}

/** When the id of a run was made, Unix milliseconds: the moment of its trigger. */
export function timeOf(runId: RunId): number {
  return decodeTime(runId.slice(runId.indexOf("_") + 1));
}

/**
 * The id of attempt `attempt` (from 1) of the job at `jobIndex` (from 0, in plan order) of a run, or of one of the cells
 * (from 0) that were made of it when it began.
 */
export function jobRunId(runId: RunId, jobIndex: number, attempt: number, cell: number | null = null): JobRunId {
  return derive("job", runId, cell === null ? `${jobIndex}/${attempt}` : `${jobIndex}.${cell}/${attempt}`);
}

/** The id of attempt `attempt` (from 1) of the step at `stepIndex` (from 0) of a job run. */
export function stepRunId(runId: RunId, jobId: JobRunId, stepIndex: number, attempt: number): StepRunId {
  return derive("step", runId, `${jobId}/${stepIndex}/${attempt}`);
}

/** The id of the approval before a stage or before a job (positions from 0, in plan order; of a matrix that of its first cell). */
export function approvalId(runId: RunId, gate: { readonly stage: number } | { readonly job: number }): ApprovalId {
  return derive("apr", runId, "stage" in gate ? `stage ${gate.stage}` : `approval of job ${gate.job}`);
}

/** The id of the definition of a run that has one of its own, which no head of its pipeline ever was. */
export function adHocRevisionId(runId: RunId): RevisionId {
  return asId<RevisionId>(`adh_${runId.slice(runId.indexOf("_") + 1)}`);
}

/** True for an id that {@link adHocRevisionId} has made. */
export function isAdHocRevision(revisionId: string): boolean {
  return revisionId.startsWith("adh_");
}

/** The id of what a step keeps under a name, under one grant. */
export function artifactIdOf(runId: RunId, stepRun: StepRunId, token: number, name: string): ArtifactId {
  return derive("art", runId, `${stepRun}/${token}/${name}`);
}

/** The id of the cache entry of a project that has this key, made of paths which this version stands for. */
export function cacheIdOf(projectId: ProjectId, version: string, key: string): CacheId {
  return asId<CacheId>(`cch_${digestOf(projectId, version, key)}`);
}

/** The id of the content that a step's agent sends as a cache entry: of other content it is another one. */
export function cacheBlobIdOf(cacheId: CacheId, stepRun: StepRunId, token: number, sha256: string): string {
  return `cchb_${digestOf(cacheId, stepRun, `${token}`, sha256)}`;
}

/** The id of the group of that name in a project. */
export function groupIdOf(projectId: ProjectId, name: string): GroupId {
  return asId<GroupId>(`grp_${digestOf(projectId, name)}`);
}

/** The id of what one actor tells another aggregate: the same for the same thing told again. */
export function commandIdOf(...path: readonly string[]): CommandId {
  return asId<CommandId>(`cmd_${digestOf(...path)}`);
}

/** A user-supplied string taken as an id of one kind, without a check that it exists. */
export function asId<T extends Branded<string>>(text: string): T {
  return text as T;
}

function digestOf(...path: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(path)).digest("hex").slice(0, 32);
}

function derive<P extends keyof IdByPrefix>(prefix: P, runId: RunId, path: string): IdByPrefix[P] {
  const time = runId.slice(runId.indexOf("_") + 1).slice(0, TIME_CHARS);
  const digest = createHash("sha256").update(`${runId}/${path}`).digest();
  let tail = "";
  for (let i = 0; i < RANDOM_CHARS; i++) tail += CROCKFORD[digest[i]! & 31]!;
  return `${prefix}_${time}${tail}` as IdByPrefix[P];
}
