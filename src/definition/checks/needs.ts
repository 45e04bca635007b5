/** Who needs whom within a stage: names that are not there, and jobs that need one another. */
import { LIMITS } from "../schema/limits.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import type { Raw } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** A job as far as it could be read. */
export interface NeedingJob {
  readonly name: string | undefined;
  readonly needs: unknown;
  readonly path: Path;
  readonly cells: number;
}

/** Reports the needs of one stage's jobs; answers how many pairs of cells they join. */
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
        // Beyond what can be told, none is looked up: each costs a comparison with every name.
        const at = [...path, "needs", ...(isList ? [index] : [])];
        const message = `there is no job "${clip(need)}" in this stage${didYouMean(need, [...byName.keys()])}`;
        const hint = "jobs of earlier stages have always ended before; they need not be named";
        source.report("unknown-job", at, message, { hint });
      }
    }
    if (name !== undefined) needs.set(name, [...known]);
  }
  for (const cycle of findCycles(needs)) {
    const message = `these jobs need one another: ${clip([...cycle, cycle[0]].join(" -> "))}`;
    source.report("cyclic-needs", [...byName.get(cycle[0]!)!.path, "needs"], message);
  }
  return pairs;
}

/** The jobs of `siblings` that must have ended before `job` begins, also through others. */
export function neededBy(job: Raw, siblings: ReadonlyMap<string, Raw>): ReadonlyMap<string, Raw> {
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

/** One cycle for each need that closes one, as many as can be told. */
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
