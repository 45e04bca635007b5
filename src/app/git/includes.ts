/** What a definition in Git includes, at the commit that the definition is of. */
import type { IncludedFile, Includes } from "../../definition/include/included-files.ts";
import type { Format } from "../../definition/text/read-text.ts";
import { formatOfPath } from "../../domain/names.ts";
import type { PlacedFile } from "../../git/read-files.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import type { GitContext } from "./context.ts";
import { withGit } from "./git-problems.ts";
import { isInGit, openRepository, type OpenRepository } from "./repository.ts";

interface IncludingText {
  /** The path of the definition. */
  readonly path: string;
  readonly text: string;
}

/**
 * Undefined for a text without `include`. Files that are missing are an answer. `commit`: null for a repository without one.
 * Throws as `withGit` does.
 */
export function includesAt(
  context: GitContext,
  { engine, repository }: OpenRepository,
  commit: string | null,
  { path, text }: IncludingText,
): Promise<Includes | undefined> {
  return collect(context, repository.owner, { path, text, format: formatOfPath(path) }, async (paths) => {
    const found =
      commit === null || paths.length === 0 ? [] : await withGit(() => engine.readFiles(repository, commit, paths));
    const files = new Map(found.map((file) => [file.path, file]));
    return paths.map((each) => {
      const file = files.get(each);
      return file === undefined ? { path: each, problem: MISSING } : includedFile(file);
    });
  });
}

/**
 * What a text would include as the definition of the default branch. Undefined for an inline pipeline, and for a text without
 * `include`. Throws as `withGit` does.
 */
export async function includesOnBranch(
  context: GitContext,
  pipeline: Pipeline,
  { text, format }: { readonly text: string; readonly format: Format },
): Promise<Includes | undefined> {
  if (!isInGit(pipeline)) return undefined;
  const { pipelineFilePath: path, projectId, defaultBranch } = pipeline;
  // Nothing is read for a text that includes nothing.
  if ((await collect(context, projectId, { path, text, format }, async () => [])) === undefined) return undefined;
  const opened = await openRepository(context, pipeline);
  const tip = await withGit(() => opened.engine.tipOf(opened.repository, `refs/heads/${defaultBranch}`));
  return includesAt(context, opened, tip?.id ?? null, { path, text });
}

async function collect(
  context: GitContext,
  asker: string,
  definition: IncludingText & { readonly format: Format },
  readFiles: (paths: readonly string[]) => Promise<readonly IncludedFile[]>,
): Promise<Includes | undefined> {
  const { collectIncludes } = await import("../../definition/include/included-files.ts");
  const { work, caller } = askingFor(context, asker);
  return collectIncludes(definition, (text, format) => work.includePaths(caller, text, format), readFiles);
}

/** Source: the specification of Git LFS, "The Pointer". */
const POINTER_BEGIN = Buffer.from("version https://git-lfs.github.com/spec/");
export const LFS_POINTER = "a pointer of Git LFS in place of the file: keep the file itself in Git";

/** Whether a file is kept outside of the repository. */
export function isLfsPointer(content: Buffer): boolean {
  return content.subarray(0, POINTER_BEGIN.length).equals(POINTER_BEGIN);
}

const MISSING = "is not there: this commit has no such file";

function includedFile({ path, file }: PlacedFile): IncludedFile {
  switch (file.kind) {
    case "file": {
      if (isLfsPointer(file.content)) return { path, problem: `is ${LFS_POINTER}` };
      const text = file.content.toString("utf8");
      const isText = Buffer.from(text).equals(file.content) && !text.includes("\0");
      return isText ? { path, text } : { path, problem: "is no text in UTF-8: save it in UTF-8" };
    }
    case "symlink":
      return { path, problem: "is a symbolic link, which is not followed: name the file itself" };
    case "folder":
    case "submodule":
      return { path, problem: `is a ${file.kind}: name a file` };
    case "tooLarge":
      return { path, problem: "is larger than a definition may be" };
    case "known":
    case "missing":
      return { path, problem: MISSING };
  }
}
