/** The needs of the jobs of a stage: unknown names, and dependency cycles. */
import { LIMITS } from "../schema/limits.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import type { Raw } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** What the check of needs reads of a job. */
export interface NeedingJob {
  /** Undefined when it is not a text. */
  readonly name: string | undefined;
  /** The value as written, of any shape. */
  readonly needs: unknown;
  readonly path: Path;
  /** How many cells its matrix has; 1 for a job without a matrix. */
  readonly cells: number;
}

/** Reports what is wrong with the needs of one stage's jobs; answers how many pairs of cells these needs join. */
export function checkNeeds(source: Source, jobs: readonly NeedingJob[]): number {
  const byName = new Map(jobs.flatMap((job) => (job.name === undefined ? [] : [[job.name, job] as const])));
  const needs = new Map<string, readonly string[]>();
  let pairs = 0;
  let unknown = 0;
  for (const { name, needs: given, path, cells } of jobs) {
    const isList = Array.isArray(given);
    const known = new Set<string>();
    for (const [index, need] of (isList ? given : [given]).entries()) {
      if (typeof need !== "string") continue;
      const needed = byName.get(need);
      if (needed !== undefined) {
        if (!known.has(need)) pairs += cells * needed.cells;
        known.add(need);
      } else if (unknown++ <= LIMITS.diagnostics) {
        // The nearest name costs a comparison with every name, so names beyond the number of reported errors get none.
        const at = [...path, "needs", ...(isList ? [index] : [])];
        const message = `there is no job "${clip(need)}" in this stage${didYouMean(need, [...byName.keys()])}`;
        const hint = "`needs` names jobs of the same stage; all jobs of earlier stages end before this job begins";
        source.report("unknown-job", at, message, { hint });
      }
    }
    if (name !== undefined) needs.set(name, [...known]);
  }
  for (const cycle of findCycles(needs)) {
    const message =
      cycle.length === 1
        ? `job "${clip(cycle[0]!)}" needs itself, which is a dependency cycle`
        : `these jobs form a dependency cycle: ${clip([...cycle, cycle[0]].join(" -> "))}`;
    const hint = cycle.length === 1 ? "remove its own name from its `needs`" : "remove one of these needs";
    source.report("cyclic-needs", [...byName.get(cycle[0]!)!.path, "needs"], message, { hint });
  }
  return pairs;
}

/** The jobs of `siblings` that must have ended before `job` begins, directly or through other jobs. */
export function sealSuccession(job: Raw, siblings: ReadonlyMap<string, Raw>): ReadonlyMap<string, Raw> {
  const found = new Map<string, Raw>();
  const open = [job];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { needs } = next;
    for (const name of Array.isArray(needs) ? needs : [needs]) {
      const needed = typeof name === "string" ? siblings.get(name) : undefined;
      if (needed === undefined || needed === job || found.has(name as string)) continue;
      found.set(name as string, needed);
      open.push(needed);
    }
  }
  return found;
}

/** One cycle for each need that closes one, up to the number of reported errors. */
function findCycles(needs: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  // Depth first, without recursion: a definition may have thousands of jobs in one chain.
  const trail: { readonly name: string; readonly rest: string[] }[] = [];
  const places = new Map<string, number>();
  const enter = (name: string): void => {
    places.set(name, trail.length);
    trail.push({ name, rest: [...(needs.get(name) ?? [])].toReversed() });
  };
  for (const start of needs.keys()) {
    if (!done.has(start)) enter(start);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const next = top.rest.pop();
      if (next === undefined) {
        done.add(top.name);
        places.delete(top.name);
        trail.pop();
        continue;
      }
      const place = places.get(next);
      if (place !== undefined) cycles.push(trail.slice(place).map(({ name }) => name));
      else if (!done.has(next)) enter(next);
      if (cycles.length > LIMITS.diagnostics) return cycles;
    }
  }
  return cycles;
}
