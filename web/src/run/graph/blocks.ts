/** The jobs of a run as blocks of a graph: a job, or all cells of a matrix. Pure. */
import type { Job, PlannedJob } from "../run-view.ts";

export interface Block {
  readonly key: string;
  /** `group`: many jobs without needs of their own kind that the graph draws as small cells, to stay readable. */
  readonly kind: "job" | "matrix" | "group";
  readonly name: string;
  readonly stage: string;
  readonly jobs: readonly PlannedJob[];
  /** Keys of blocks before this one. */
  readonly needs: readonly string[];
}

export type Counts = ReadonlyMap<Job["status"], number>;

/** The order in which counts are shown: what needs a look comes first. */
const SHOWN = ["failed", "running", "queued", "pending", "cancelled", "success"] as const;

/** The name of the job in the definition: that of a cell without its values. */
export function plannedName({ name, matrix }: Pick<Job, "name" | "matrix">): string {
  if (Object.keys(matrix).length === 0 || !name.endsWith(")")) return name;
  const at = name.indexOf(" (");
  return at > 0 ? name.slice(0, at) : name;
}

/** What tells a cell from its siblings: `os=linux, node=20`. */
export function cellName({ matrix }: Pick<Job, "matrix">): string {
  return Object.entries(matrix)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

/** How many jobs have each status, what needs a look first. */
export function countStatuses(jobs: readonly PlannedJob[]): Counts {
  const counts = new Map<Job["status"], number>();
  for (const status of SHOWN) {
    const count = jobs.filter(({ newest }) => newest.status === status).length;
    if (count > 0) counts.set(status, count);
  }
  return counts;
}

/** One status for many jobs: the one that needs a look first. */
export function worstStatus(jobs: readonly PlannedJob[]): Job["status"] {
  return countStatuses(jobs).keys().next().value ?? "pending";
}

/** The blocks of a run in the order of its plan. */
export function blocksOf(jobs: readonly PlannedJob[]): readonly Block[] {
  const blocks = new Map<string, { readonly block: Omit<Block, "jobs" | "needs">; readonly jobs: PlannedJob[] }>();
  const keys = new Map<string, string>();
  for (const job of jobs) {
    const { newest } = job;
    const name = plannedName(newest);
    const isCell = Object.keys(newest.matrix).length > 0;
    const key = isCell ? `${newest.stage}/${name}` : job.key;
    keys.set(name, key);
    const known = blocks.get(key);
    if (known !== undefined) known.jobs.push(job);
    else blocks.set(key, { block: { key, kind: isCell ? "matrix" : "job", name, stage: newest.stage }, jobs: [job] });
  }
  return [...blocks.values()].map(({ block, jobs: own }) => {
    const needs = own[0]!.newest.needs.flatMap((name) => keys.get(name) ?? []);
    return { ...block, jobs: own, needs: [...new Set(needs)].filter((key) => key !== block.key) };
  });
}
