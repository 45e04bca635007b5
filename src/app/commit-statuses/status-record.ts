/** A commit status as the body of a delivery holds it, and the lanes of such deliveries. Pure. */
import { hash } from "node:crypto";
import type { PipelineId, ProjectId } from "../../domain/ids.ts";
import { type CommitStatus, STATUS_DESCRIPTION_CHARS, STATUS_NAME_CHARS } from "../../providers/provider.ts";
import { type Delivery, JOB_STATUS_LANES, RUN_STATUS_LANES } from "../../stores/ports/deliveries.ts";

export interface StatusRecord extends CommitStatus {
  readonly pipelineId: PipelineId;
  /** Name of the job; null when it is about the run. */
  readonly job: string | null;
  /** The host of the repository: when it wants to be left alone, all statuses for it wait. */
  readonly host: string;
}

export function statusOf({ body }: Pick<Delivery, "body">): StatusRecord {
  return JSON.parse(body) as StatusRecord;
}

/**
 * The name of the status of a run or a job: `millrace/NAME` or `millrace/NAME/JOB`. `owner`: what tells the pipeline from another
 * one of its name, as in `millrace/NAME (OWNER)`; empty where nothing has to.
 */
export function statusName(pipeline: string, owner: string, job: string | null): string {
  const name = `millrace/${pipeline}${owner === "" ? "" : ` (${owner})`}${job === null ? "" : `/${job}`}`;
  if (name.length <= STATUS_NAME_CHARS) return name;
  const mark = hash("sha256", name, "hex").slice(0, 8);
  return `${name.slice(0, STATUS_NAME_CHARS - mark.length - 1)}-${mark}`;
}

export function descriptionOf(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, " ").trim();
  return line.length <= STATUS_DESCRIPTION_CHARS ? line : `${line.slice(0, STATUS_DESCRIPTION_CHARS - 3)}...`;
}

/** Statuses of one commit and name, in one repository and by one project, have such a lane: one is set after the other. */
export function statusLane(
  projectId: ProjectId,
  repoUrl: string,
  { commit, name, job }: Pick<StatusRecord, "commit" | "name" | "job">,
): string {
  const place = hash("sha256", JSON.stringify([repoUrl, commit, name]), "hex").slice(0, 32);
  return `${job === null ? RUN_STATUS_LANES : JOB_STATUS_LANES}${projectId}/${place}`;
}

/** Whether a delivery says something newer than another one of its lane: it is of a later run, or of a later event. */
export function isNewer(one: Pick<Delivery, "runId" | "number">, other: Pick<Delivery, "runId" | "number">): boolean {
  return one.runId === other.runId ? one.number > other.number : one.runId > other.runId;
}
