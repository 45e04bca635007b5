/** Concurrency groups, as those see them who ask for a place. */
import { asId, type GroupId, type RunId } from "./ids.ts";

/** What a run or a job knows of its group from when it has asked for a place until it leaves. */
export interface Place {
  readonly groupId: GroupId;
  readonly name: string;
  /** False while it waits. */
  readonly held: boolean;
}

const NAME_CHARS = 200;

/** A group's name as an expression gave it, or undefined for what is none. */
export function groupNameOf(value: unknown): string | undefined {
  const name = typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
  return name === "" || name.length > NAME_CHARS ? undefined : name;
}

/** Who is in a group: a run, or a job of it, or a cell of a job that was spread. */
export interface GroupMember {
  readonly runId: RunId;
  /** Position in the plan; null for the run as a whole. */
  readonly job: number | null;
  readonly cell: number | null;
}

/** The same for the same member; sorts by the creation of runs, and within one by the plan. */
export function memberKey({ runId, job, cell }: GroupMember): string {
  if (job === null) return runId;
  return `${runId}/${padded(job)}${cell === null ? "" : `.${padded(cell)}`}`;
}

/** The reverse of {@link memberKey}. */
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
