/** Resolves the `include` of a definition: reports what is wrong with it, and merges the files. */
import { formatOfPath } from "../../domain/names.ts";
import { pipelineSchema } from "../schema/pipeline.ts";
import { LIMITS } from "../schema/limits.ts";
import { readMisspeltLists } from "../checks/misspelt-lists.ts";
import { checkShape } from "../checks/shape.ts";
import { asMap } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import { Source } from "../text/source.ts";
import { includePathProblem, type IncludedFile, type Includes } from "./included-files.ts";
import { mergeFiles } from "./merge.ts";

/** The keys of an included file. All others say what a pipeline as a whole is, which one file alone should. */
const INCLUDED_KEYS = ["version", "description", "include", "variables", "env", "stages", "jobs"] as const;

/**
 * Merges the included files into the value of the definition. Without `includes`, the definition is in no repository. Answers
 * false when the definition is not whole: checks of the whole would then report what is only missing.
 */
export function resolveIncludes(source: Source, includes: Includes | undefined): boolean {
  if (asMap(source.value)?.["include"] === undefined) return true;
  if (includes === undefined) {
    source.report("invalid-include", ["include"], "an inline definition cannot include files: it is in no repository", {
      spot: "key",
      hint: "move the definition into the repository of the files (`millrace pipelines move`), or write their jobs here",
    });
    return false;
  }
  const resolution = new Resolution(includes);
  const isWhole = resolution.visit(source, [includes.path]);
  source.addIncluded(resolution.files);
  if (!isWhole) return false;
  mergeFiles(source, resolution.files);
  return true;
}

class Resolution {
  /** In the order in which they are merged: a file comes after those that it includes. */
  readonly files: Source[] = [];
  readonly #contents: ReadonlyMap<string, IncludedFile>;
  readonly #seen = new Set<string>();
  #bytes = 0;

  constructor({ files }: Includes) {
    this.#contents = new Map(files.map((file) => [file.path, file]));
  }

  /** Takes the files that `source` includes. `chain`: the paths that lead to it, its own last. */
  visit(source: Source, chain: readonly string[]): boolean {
    const include = asMap(source.value)?.["include"];
    if (!Array.isArray(include)) return true;
    return include.map((path: unknown, index) => this.#take(source, path, index, chain)).every(Boolean);
  }

  #take(source: Source, path: unknown, index: number, chain: readonly string[]): boolean {
    // The schema reports what is no text.
    if (typeof path !== "string" || path === "") return false;
    const at = ["include", index];
    const problem = includePathProblem(path);
    if (problem !== undefined) {
      source.report("invalid-include", at, `"${clip(path)}" ${problem}`);
      return false;
    }
    if (chain.includes(path)) {
      const cycle = [...chain.slice(chain.indexOf(path)), path].map((each) => clip(each)).join(" includes ");
      source.report("cyclic-include", at, `these files include each other: ${cycle}`, {
        hint: "move what both need into a third file, and let both include that",
      });
      return false;
    }
    // A file that several files include is taken once.
    if (this.#seen.has(path)) return true;
    const excess = this.#excessOf(chain);
    if (excess !== undefined) {
      source.report("include-limit", at, excess);
      return false;
    }
    this.#seen.add(path);
    const file = this.#contents.get(path) ?? { path, problem: "is not there: the repository has no such file" };
    if ("problem" in file) {
      source.report("invalid-include", at, `"${clip(path)}" ${file.problem}`, {
        hint: "give the path from the root of the repository, of a file that the same commit has",
      });
      return false;
    }
    this.#bytes += Buffer.byteLength(file.text);
    if (this.#bytes > LIMITS.textBytes) {
      source.report("include-limit", at, `included files may have ${LIMITS.textBytes} bytes together; these have more`);
      return false;
    }
    return this.#read(file.path, file.text, chain);
  }

  #excessOf(chain: readonly string[]): string | undefined {
    if (this.#seen.size >= LIMITS.includes)
      return `a definition may include ${LIMITS.includes} files; this is one more`;
    if (chain.length <= LIMITS.includeDepth) return undefined;
    return `files may include each other ${LIMITS.includeDepth} levels deep; this is one more`;
  }

  #read(path: string, text: string, chain: readonly string[]): boolean {
    const file = new Source(text, formatOfPath(path), path);
    const isWhole = checkFile(file) && this.visit(file, [...chain, path]);
    this.files.push(file);
    return isWhole;
  }
}

/** Reports what an included file must not have. Answers false when the file cannot be merged. */
function checkFile(file: Source): boolean {
  if (file.hasErrors) return false;
  readMisspeltLists(file);
  const root = asMap(file.value);
  if (root === undefined) {
    file.report("not-a-map", [], "an included file must be a map with `stages`, `jobs`, `variables` or `env`");
    return false;
  }
  const known: readonly string[] = INCLUDED_KEYS;
  const misplaced = Object.keys(root).filter((key) => !known.includes(key) && key in pipelineSchema.shape);
  for (const key of misplaced) {
    file.report("invalid-include", [key], `an included file cannot have \`${key}\``, {
      spot: "key",
      hint: `write it into the definition that includes the file; a file may have ${INCLUDED_KEYS.join(", ")}`,
    });
  }
  checkShape(file, misplaced);
  if (Object.hasOwn(root, "stages") && Object.hasOwn(root, "jobs")) {
    file.report("jobs-or-stages", ["jobs"], "give either `stages` or `jobs`, not both", { spot: "key" });
    return false;
  }
  return true;
}
