/** Several files of one commit, whose contents are fetched together. */
import { GitFault } from "./git-fault.ts";
import type { Mirror } from "./mirror.ts";
import { fileKindOf, type TreeFile } from "./objects.ts";

/** What a commit has at a path. */
export type FoundFile =
  | { readonly kind: "file"; readonly blob: string; readonly content: Buffer }
  /** The blob that the caller has. */
  | { readonly kind: "known"; readonly blob: string }
  | { readonly kind: "missing" | "symlink" | "folder" | "submodule" };

/** Of several files, one that is too large does not hide the others. */
export interface PlacedFile {
  readonly path: string;
  readonly file: FoundFile | { readonly kind: "tooLarge" };
}

/** The files below a folder that `isWanted` takes, in the order of their paths, at most `limit`. */
export async function readFolder(
  mirror: Mirror,
  commit: string,
  { folder, limit, isWanted }: { folder: string; limit: number; isWanted: (path: string) => boolean },
): Promise<{ readonly files: readonly PlacedFile[]; readonly hasMore: boolean }> {
  const entries = (await mirror.entriesBelow(commit, folder)).filter(({ path }) => isWanted(path));
  return { files: await readEntries(mirror, entries.slice(0, limit)), hasMore: entries.length > limit };
}

/** The contents of files, which are fetched together. */
export async function readEntries(mirror: Mirror, entries: readonly TreeFile[]): Promise<readonly PlacedFile[]> {
  const files = entries.filter(({ mode }) => fileKindOf(mode) === "file");
  await mirror.fetchBlobs(files.map(({ id }) => id));
  const contents = new Map<string, PlacedFile["file"]>();
  for (const { id } of files) if (!contents.has(id)) contents.set(id, await readBlob(mirror, id));
  return entries.map(({ path, mode, id }) => {
    const kind = fileKindOf(mode);
    return { path, file: kind === "file" ? contents.get(id)! : { kind } };
  });
}

async function readBlob(mirror: Mirror, blob: string): Promise<PlacedFile["file"]> {
  try {
    return { kind: "file", blob, content: await mirror.blob(blob) };
  } catch (error) {
    if (error instanceof GitFault && error.kind === "tooLarge") return { kind: "tooLarge" };
    throw error;
  }
}
