/** Environments, to which jobs deploy. Pure. */
import type { PipelineId, ProjectId } from "./ids.ts";

/** Longest name that is kept, characters. */
const ENVIRONMENT_CHARS = 200;

/** What a job that deploys is found by, from its start on. The fields never change. */
export interface DeploymentIndex {
  readonly projectId: ProjectId;
  readonly pipelineId: PipelineId;
  readonly environment: string;
  /** The name of the job, for people. */
  readonly job: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** The name from the value of an expression, in one line and cut to its bound; undefined for none. */
export function environmentNameOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const line = String(value)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  // The bound may cut a character in two.
  const name = line.slice(0, ENVIRONMENT_CHARS).replace(/[\p{Cs}\s]+$/u, "");
  return name === "" ? undefined : name;
}
