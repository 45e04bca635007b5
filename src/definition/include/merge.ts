/** Merges a definition with the files that it includes, and keeps where each part was written. */
import { toPointer } from "../../domain/json-pointer.ts";
import { asMap, type Raw } from "../text/raw.ts";
import type { Origin, Path, Source } from "../text/source.ts";

/** A stage of several files: their keys and their jobs, with the places of both. */
interface MergedStage {
  readonly keys: Map<string, readonly [value: unknown, origin: Origin]>;
  readonly jobs: (readonly [value: unknown, origin: Origin])[];
  origin: Origin;
}

/**
 * Gives `main` the value of all files together. Of variables and environment variables with one name, that of the later file
 * counts, and that of `main` before all. A stage that several files have gets the jobs of all of them; stages that `main`
 * has not come first. `files`: in the order of their merge. Where values have the wrong shape, which is reported already, the
 * value of `main` stays.
 */
export function mergeFiles(main: Source, files: readonly Source[]): void {
  const { include: _, ...merged } = asMap(main.value) as Record<string, unknown>;
  const origins = new Map<string, Origin>();
  const all = [...files, main];
  for (const key of ["variables", "env"]) mergeMap(all, key, merged, origins);
  if (haveOneShape(all)) {
    mergeJobs(all, merged, origins);
    mergeStages(main, files, merged, origins);
  }
  main.merge(merged, origins);
}

function mergeMap(
  all: readonly Source[],
  key: string,
  merged: Record<string, unknown>,
  origins: Map<string, Origin>,
): void {
  const values = all.flatMap((source) => {
    const value = rootOf(source)[key];
    return value === undefined ? [] : [{ source, map: asMap(value) }];
  });
  if (values.length === 0 || values.some(({ map }) => map === undefined)) return;
  const entries = new Map<string, unknown>();
  for (const { source, map } of values) {
    for (const [name, value] of Object.entries(map!)) {
      // A name has the place of its last value.
      entries.delete(name);
      entries.set(name, value);
      origins.set(toPointer([key, name]), { source, path: [key, name] });
    }
  }
  merged[key] = Object.fromEntries(entries);
}

/** Reports files of which some have `stages` and others `jobs`. */
function haveOneShape(all: readonly Source[]): boolean {
  const main = all.at(-1)!;
  const withStages = all.find((source) => Object.hasOwn(rootOf(source), "stages"));
  const withJobs = all.findLast((source) => Object.hasOwn(rootOf(source), "jobs"));
  if (withStages === undefined || withJobs === undefined) return true;
  // Both in one file: that is reported there.
  if (withStages === withJobs) return false;
  const at = withJobs === main ? withStages : withJobs;
  const [has, others] = at === withJobs ? ["jobs", "stages"] : ["stages", "jobs"];
  at.report("jobs-or-stages", [has!], `this file has \`${has}\`, and a file that it is merged with has \`${others}\``, {
    spot: "key",
    hint: "a definition and the files that it includes need the same of the two",
  });
  return false;
}

function mergeJobs(all: readonly Source[], merged: Record<string, unknown>, origins: Map<string, Origin>): void {
  const jobs = all.flatMap((source) => jobsOf(source, rootOf(source), []));
  if (jobs.length === 0) return;
  merged["jobs"] = jobs.map(([value, origin], index) => {
    origins.set(toPointer(["jobs", index]), origin);
    return value;
  });
}

function mergeStages(
  main: Source,
  files: readonly Source[],
  merged: Record<string, unknown>,
  origins: Map<string, Origin>,
): void {
  const stages = new Map<unknown, MergedStage>();
  for (const source of [...files, main]) {
    const list = rootOf(source)["stages"];
    if (!Array.isArray(list)) continue;
    const seen = new Set<unknown>();
    for (const [index, stage] of list.entries()) {
      const path = ["stages", index];
      const map = asMap(stage) ?? {};
      // The same name twice in one file stays two stages, which the checks of the whole report.
      const name = typeof map["name"] === "string" && !seen.has(map["name"]) ? map["name"] : Symbol("a further stage");
      seen.add(name);
      const into: MergedStage = stages.get(name) ?? { keys: new Map(), jobs: [], origin: { source, path } };
      // In the order of `main`, behind the stages that only included files have.
      if (source === main) stages.delete(name);
      stages.set(name, into);
      into.origin = { source, path };
      for (const [key, value] of Object.entries(map)) {
        if (key !== "jobs") into.keys.set(key, [value, { source, path: [...path, key] }]);
      }
      into.jobs.push(...jobsOf(source, map, path));
    }
  }
  if (stages.size === 0) return;
  merged["stages"] = [...stages.values()].map(({ keys, jobs, origin }, index) => {
    const at = ["stages", index];
    origins.set(toPointer(at), origin);
    for (const [key, [, place]] of keys) origins.set(toPointer([...at, key]), place);
    for (const [job, [, place]] of jobs.entries()) origins.set(toPointer([...at, "jobs", job]), place);
    const values = Object.fromEntries([...keys].map(([key, [value]]) => [key, value]));
    return { ...values, jobs: jobs.map(([value]) => value) };
  });
}

function jobsOf(source: Source, { jobs }: Raw, path: Path): readonly (readonly [value: unknown, origin: Origin])[] {
  if (!Array.isArray(jobs)) return [];
  return jobs.map((job: unknown, index) => [job, { source, path: [...path, "jobs", index] }]);
}

function rootOf({ value }: Source): Raw {
  return asMap(value) ?? {};
}
