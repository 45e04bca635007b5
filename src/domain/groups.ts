/** Concurrency groups, from the side of their members. */
import { asId, type GroupId, type RunId } from "./ids.ts";

/** The place of a run or a job in its group, from the request for the place until the member leaves. */
export interface Place {
  readonly groupId: GroupId;
  readonly name: string;
  /** False while the member waits for the place. */
  readonly held: boolean;
}

const NAME_CHARS = 200;

/**
 * The group's name from the value of an expression; undefined when the value is not a valid name (1 to 200 characters).
 */
export function groupNameOf(value: unknown): string | undefined {
  const name = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
  return name === "" || name.length > NAME_CHARS ? undefined : name;
}

/** A member of a group: a run, a job of a run, or a cell of a job that was spread. */
export interface GroupMember {
  readonly runId: RunId;
  /** Position in the plan; null for the run as a whole. */
  readonly job: number | null;
  readonly cell: number | null;
}

/** The key of a member. Keys sort by the creation of the runs, and within a run by the plan. */
export function memberKey({ runId, job, cell }: GroupMember): string {
  if (job === null) return runId;
  return `${runId}/${padded(job)}${cell === null ? "" : `.${padded(cell)}`}`;
}

/** The member with this key: the reverse of {@link memberKey}. */
export function memberOf(key: string): GroupMember {
  const [runId, job, cell] = key.split(/[/.]/);
  return { runId: asId<RunId>(runId!), job: toPosition(job), cell: toPosition(cell) };
}

function toPosition(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function padded(position: number): string {
  return String(position).padStart(6, "0");
}
