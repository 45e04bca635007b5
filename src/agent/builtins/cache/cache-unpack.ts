/**
 * Unpacks a cache entry into a workspace, and nowhere else. The archive is not trusted: it may hold only paths that the
 * step asked for, nothing is written through a link, and no link may lead out of the workspace.
 */
import { createReadStream } from "node:fs";
import { chmod, lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { ownerOf, type Owner } from "../../process/step-user.ts";
import { createIn, linkIn, makeFolderIn } from "../workspace-files.ts";
import { isInnerLink } from "./cache-paths.ts";
import type { PathPatterns } from "../patterns.ts";

/** Files up to this size are written as a whole, several at the same time. Most files are small. */
const WHOLE_BYTES = 1 << 20;
/** How many small files are written at the same time. */
const MAX_WRITES = 16;

/**
 * Unpacks the archive `file` and returns the number of files and links written. They replace existing files. Rejects
 * with `malformed_request` if the file is not an archive or holds something that is not allowed, and with `conflict` if
 * something cannot be written. After an error, a part of the entry may be in the workspace.
 */
export async function unpackCache(
  file: string,
  workspace: string,
  patterns: PathPatterns,
  signal: AbortSignal,
): Promise<number> {
  const unpacking = new Unpacking(workspace, patterns);
  const tar = extract();
  const takeAll = async (): Promise<void> => {
    for await (const entry of tar) await unpacking.take(entry.header, entry as AsyncIterable<Uint8Array>);
  };
  const source = createReadStream(file);
  try {
    await Promise.all([pipeline(source, createGunzip(), tar, { signal }), takeAll()]);
    await unpacking.finish();
    return unpacking.count;
  } catch (error) {
    source.destroy();
    await unpacking.settle();
    signal.throwIfAborted();
    if (error instanceof MillraceError) throw error;
    const { syscall, code, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw conflict(`it cannot be put into the workspace (${code})`);
    throw malformed(`it is no gzipped tar: ${message}`);
  }
}

class Unpacking {
  count = 0;
  readonly #workspace: string;
  readonly #owner: Owner | undefined;
  readonly #patterns: PathPatterns;
  /** Paths that are known to be folders, not links. */
  readonly #folders = new Set<string>();
  /** The small files that are being written. */
  readonly #writes: Promise<void>[] = [];
  /** Modes of folders. They are set at the end, since a folder may become read-only. */
  readonly #modes = new Map<string, number>();

  constructor(workspace: string, patterns: PathPatterns) {
    this.#workspace = workspace;
    this.#owner = ownerOf(workspace);
    this.#patterns = patterns;
  }

  async take({ name, type, size, mode, mtime, linkname }: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = name.replace(/\/+$/, "");
    if (!isArtifactPath(path) || !this.#patterns.matches(path)) {
      throw malformed(`${JSON.stringify(path)} is not one of the paths that the step asked for`);
    }
    const at = join(this.#workspace, path);
    if (type === "directory") {
      await this.#makeFolders(path.split("/"));
      this.#modes.set(at, mode & 0o777);
    } else if (type === "symlink") {
      if (!isInnerLink(path, linkname)) throw malformed(`the link ${JSON.stringify(path)} leads out of the workspace`);
      await this.#clear(path, at);
      await linkIn(linkname, at, this.#owner);
      this.count++;
    } else if (type === "file") {
      const isSmall = size <= WHOLE_BYTES;
      const bytes = isSmall ? [await readWhole(content)] : content;
      const written = this.#clear(path, at).then(() => this.#write(at, bytes, mode & 0o777, mtime));
      await (isSmall ? this.#addWrite(written) : written);
      this.count++;
    } else {
      throw malformed(`${JSON.stringify(path)} is a ${type}`);
    }
    // The content of every entry must be read to its end, even when it is empty.
    if (type !== "file") for await (const _ of content);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#writes);
    for (const [folder, mode] of [...this.#modes].reverse()) await chmod(folder, mode);
  }

  /** Waits until no file is being written any more. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  /** Adds a write to those in progress, and waits for all of them when there are many. */
  async #addWrite(written: Promise<void>): Promise<void> {
    // The error is reported when the writes are awaited. Until then it must not count as unhandled.
    written.catch(() => {});
    this.#writes.push(written);
    if (this.#writes.length < MAX_WRITES) return;
    await Promise.all(this.#writes);
    this.#writes.length = 0;
  }

  async #write(
    at: string,
    content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    mode: number,
    mtime: Date,
  ): Promise<void> {
    const handle = await createIn(this.#workspace, at, this.#owner);
    try {
      for await (const bytes of content) {
        for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
      }
      await handle.chmod(mode);
      await handle.utimes(mtime, mtime);
    } finally {
      await handle.close();
    }
  }

  /** Makes room for a file or link. An existing link is removed itself, never its target. */
  async #clear(path: string, at: string): Promise<void> {
    await this.#makeFolders(path.split("/").slice(0, -1));
    const stats = await lstat(at).catch(ifMissing);
    if (stats?.isDirectory()) throw conflict(`${JSON.stringify(path)} is a folder of the workspace`);
    if (stats !== undefined) await rm(at);
  }

  async #makeFolders(names: readonly string[]): Promise<void> {
    let folder = this.#workspace;
    for (const name of names) {
      folder = join(folder, name);
      if (this.#folders.has(folder)) continue;
      const stats = await lstat(folder).catch(ifMissing);
      if (stats === undefined) await makeFolderIn(this.#workspace, folder, this.#owner);
      else if (!stats.isDirectory()) throw conflict(`${JSON.stringify(name)} is no folder of the workspace`);
      this.#folders.add(folder);
    }
  }
}

async function readWhole(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function conflict(text: string): MillraceError {
  return new MillraceError("conflict", text);
}

function malformed(text: string): MillraceError {
  return new MillraceError("malformed_request", text);
}
