/**
 * The files of a workspace that a step keeps. They are found by patterns, read once for their checksums, and read again
 * when they are sent. Nothing outside of the workspace is read, even if the step has left links in it.
 */
import { createHash } from "node:crypto";
import { constants, type Dirent, type Stats } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { type ArtifactFile, isArtifactPath, MANIFEST_BOUNDS, PIECE_BYTES } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { escapedName, findNameless, textOf } from "../byte-names.ts";
import { type PathPatterns, readPatterns } from "../patterns.ts";

/** Opening a pipe must not wait for a writer, and no link may be followed, since the paths are resolved before. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The unit in which the system tells how much of a file is on the disk. */
const BLOCK_BYTES = 512;

/** A file to keep. */
export interface FoundFile extends ArtifactFile {
  readonly realPath: string;
  /** The state of the file when its checksum was computed. */
  readonly seen: Pick<Stats, "dev" | "ino" | "size" | "mtimeMs">;
}

/** The most bytes of one file, and of all files together. */
export interface FileLimits {
  readonly fileBytes: number;
  readonly allBytes: number;
}

/**
 * Finds the regular files that match, sorted by path. A link to a file of the workspace counts as that file. Links to
 * folders are not followed; sockets, pipes and devices are skipped. Rejects with `malformed_request` for a link that
 * leads out of the workspace, a name that cannot be kept, or too many files, with `too_large` for files beyond `limits`,
 * before any content is read, and with `conflict` for a file that changes meanwhile. A file with holes counts with its
 * whole size.
 */
export async function findFiles(
  workspace: string,
  patterns: readonly string[],
  signal: AbortSignal,
  limits?: FileLimits,
): Promise<readonly FoundFile[]> {
  const search = new Search(workspace, readPatterns(patterns), signal);
  const found: FoundFile[] = [];
  const places = await search.run();
  if (limits !== undefined) await checkSizes(places, limits, signal);
  for (const [path, realPath] of places) {
    signal.throwIfAborted();
    found.push(await examine(path, realPath, signal));
  }
  return found;
}

/**
 * Yields the content of all files in a row, from the byte offset `from` on, in pieces of `PIECE_BYTES` (the last may be
 * shorter). Rejects with `conflict` when a file has changed.
 */
export async function* piecesOf(files: readonly FoundFile[], from: number): AsyncGenerator<Buffer, void, void> {
  let piece = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  let skip = from;
  for (const file of files) {
    if (skip >= file.sizeBytes) {
      skip -= file.sizeBytes;
      continue;
    }
    const handle = await openAsSeen(file);
    try {
      for (let at = skip; at < file.sizeBytes;) {
        const wanted = Math.min(PIECE_BYTES - filled, file.sizeBytes - at);
        const { bytesRead } = await handle.read(piece, filled, wanted, at);
        if (bytesRead === 0) throw changed(file.path);
        [filled, at] = [filled + bytesRead, at + bytesRead];
        if (filled < PIECE_BYTES) continue;
        yield piece;
        piece = Buffer.allocUnsafe(PIECE_BYTES);
        filled = 0;
      }
    } finally {
      await handle.close();
    }
    skip = 0;
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

class Search {
  readonly #workspace: string;
  readonly #patterns: PathPatterns;
  readonly #signal: AbortSignal;
  /** Real paths of the files found, by path. */
  readonly #found = new Map<string, string>();

  constructor(workspace: string, patterns: PathPatterns, signal: AbortSignal) {
    this.#workspace = workspace;
    this.#patterns = patterns;
    this.#signal = signal;
  }

  async run(): Promise<readonly (readonly [path: string, realPath: string])[]> {
    for (const start of this.#patterns.starts) await this.#take(start, join(this.#workspace, start), true);
    return [...this.#found].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Takes the file or folder at a path that is a link, or at which a pattern starts. */
  async #take(path: string, at: string, isStart: boolean): Promise<void> {
    const target = await realpath(at, { encoding: "buffer" }).catch(ifMissing);
    if (target === undefined) return;
    const realPath = textOf(target);
    if (realPath === undefined) {
      if (!isStart && !this.#patterns.matches(path)) return;
      throw malformed(`${JSON.stringify(path)} is a link to ${escapedName(target)}, which is no UTF-8`);
    }
    const isInside = realPath === this.#workspace || realPath.startsWith(this.#workspace + sep);
    const isWanted = isStart || this.#patterns.matches(path);
    if (!isInside && isWanted) throw malformed(`${JSON.stringify(path)} leads out of the workspace`);
    if (!isInside) return;
    const stats = await stat(realPath).catch(ifMissing);
    if (stats?.isFile()) this.#add(path, realPath);
    else if (stats?.isDirectory() && isStart) await this.#walk(path, realPath);
  }

  async #walk(folder: string, realFolder: string): Promise<void> {
    this.#signal.throwIfAborted();
    for (const entry of await readdir(realFolder, { withFileTypes: true, encoding: "buffer" })) {
      const name = textOf(entry.name);
      if (name === undefined) {
        await this.#refuseNameless(folder, realFolder, entry);
        continue;
      }
      const path = folder === "" ? name : `${folder}/${name}`;
      const realPath = join(realFolder, name);
      if (entry.isDirectory()) await this.#walk(path, realPath);
      else if (entry.isSymbolicLink()) await this.#take(path, realPath, false);
      else if (entry.isFile()) this.#add(path, realPath);
    }
  }

  async #refuseNameless(folder: string, realFolder: string, entry: Dirent<Buffer>): Promise<void> {
    const within = { path: Buffer.from(folder), at: Buffer.from(realFolder) };
    const found = await findNameless(within, entry, this.#patterns, this.#signal);
    if (found !== undefined) throw malformed(`a file cannot be kept under its name ${found}, which is no UTF-8`);
  }

  #add(path: string, realPath: string): void {
    if (!this.#patterns.matches(path)) return;
    if (!isArtifactPath(path)) throw malformed(`a file cannot be kept under its name ${JSON.stringify(path)}`);
    this.#found.set(path, realPath);
    if (this.#found.size > MANIFEST_BOUNDS.files) {
      throw malformed(`more than ${MANIFEST_BOUNDS.files} files match: keep an archive of them instead`);
    }
  }
}

async function checkSizes(
  places: readonly (readonly [path: string, realPath: string])[],
  { fileBytes, allBytes }: FileLimits,
  signal: AbortSignal,
): Promise<void> {
  let sum = 0;
  for (const [path, realPath] of places) {
    signal.throwIfAborted();
    const { size = 0, blocks = 0 } = (await stat(realPath).catch(ifMissing)) ?? {};
    if (size > fileBytes) {
      throw tooLarge(`${JSON.stringify(path)} has ${sizeOf({ size, blocks })}; ${fileBytes} are allowed for a file`);
    }
    sum += size;
  }
  if (sum > allBytes) throw tooLarge(`its files have ${sum} bytes; ${allBytes} are allowed for an artifact`);
}

/** The size of a file for people. It says how much of the file is on the disk when the file has holes. */
export function sizeOf(stats: Pick<Stats, "size" | "blocks">): string {
  return `${stats.size} bytes${holesIn(stats) > 0 ? ` (${stats.blocks * BLOCK_BYTES} of them on the disk)` : ""}`;
}

/** How many bytes of a file are in holes, which take no space on the disk. */
export function holesIn({ size, blocks }: Pick<Stats, "size" | "blocks">): number {
  return Math.max(0, size - blocks * BLOCK_BYTES);
}

async function examine(path: string, realPath: string, signal: AbortSignal): Promise<FoundFile> {
  const handle = await openFile(path, realPath);
  try {
    const { dev, ino, size, mtimeMs, mode } = await handle.stat();
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    for (let at = 0; at < size;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE_BYTES, size - at), at);
      if (bytesRead === 0) throw changed(path);
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const seen = { dev, ino, size, mtimeMs };
    return { path, realPath, sizeBytes: size, sha256: hash.digest("hex"), executable: (mode & 0o100) !== 0, seen };
  } finally {
    await handle.close();
  }
}

async function openAsSeen({ path, realPath, seen }: FoundFile): Promise<FileHandle> {
  const handle = await openFile(path, realPath);
  const { dev, ino, size, mtimeMs } = await handle.stat();
  if (dev === seen.dev && ino === seen.ino && size === seen.size && mtimeMs === seen.mtimeMs) return handle;
  await handle.close();
  throw changed(path);
}

async function openFile(path: string, realPath: string): Promise<FileHandle> {
  const handle = await open(realPath, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ELOOP" || error.code === "ENXIO") throw changed(path);
    throw malformed(`${JSON.stringify(path)} cannot be read (${error.code})`);
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw changed(path);
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR" && error.code !== "ELOOP") throw error;
}

function changed(path: string): MillraceError {
  return new MillraceError("conflict", `${JSON.stringify(path)} has changed while it was kept`);
}

function tooLarge(text: string): MillraceError {
  return new MillraceError("too_large", text);
}

function malformed(text: string): MillraceError {
  return new MillraceError("malformed_request", text);
}
