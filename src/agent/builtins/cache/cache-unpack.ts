/**
 * Puts what a cache holds into a workspace, and nowhere else: whoever made the archive, what is in it is a path that the step
 * asked for, no link is written through, and none leads out.
 */
import { createReadStream } from "node:fs";
import { chmod, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { isInnerLink } from "./cache-paths.ts";
import type { PathPatterns } from "../patterns.ts";

/** Of a file that is written as a whole: most are small. */
const WHOLE_BYTES = 1 << 20;
/** How many of them are written at a time. */
const MAX_WRITES = 16;

/**
 * Answers how many files and links it has put; they replace what stands there. Rejects with `malformed_request` for an archive
 * that is none or holds what it must not, `conflict` where something cannot be put; some of it may be there then.
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
  readonly #patterns: PathPatterns;
  /** Folders that are known to be folders and no links. */
  readonly #folders = new Set<string>();
  /** Small files that are being written. */
  readonly #writes: Promise<void>[] = [];
  /** Given to folders last: one may not be writable. */
  readonly #modes = new Map<string, number>();

  constructor(workspace: string, patterns: PathPatterns) {
    this.#workspace = workspace;
    this.#patterns = patterns;
  }

  async take({ name, type, size, mode, mtime, linkname }: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = name.replace(/\/+$/, "");
    if (!isArtifactPath(path) || !this.#patterns.matches(path)) {
      throw malformed(`${JSON.stringify(path)} is none of the paths that are wanted`);
    }
    const at = join(this.#workspace, path);
    if (type === "directory") {
      await this.#open(path.split("/"));
      this.#modes.set(at, mode & 0o777);
    } else if (type === "symlink") {
      if (!isInnerLink(path, linkname)) throw malformed(`the link ${JSON.stringify(path)} leads out of the workspace`);
      await this.#clear(path, at);
      await symlink(linkname, at);
      this.count++;
    } else if (type === "file") {
      const isSmall = size <= WHOLE_BYTES;
      const bytes = isSmall ? [await readWhole(content)] : content;
      const written = this.#clear(path, at).then(() => write(at, bytes, mode & 0o777, mtime));
      await (isSmall ? this.#startWrite(written) : written);
      this.count++;
    } else {
      throw malformed(`${JSON.stringify(path)} is a ${type}`);
    }
    // What has no content has an end, too.
    if (type !== "file") for await (const _ of content);
  }

  async finish(): Promise<void> {
    await Promise.all(this.#writes);
    for (const [folder, mode] of [...this.#modes].reverse()) await chmod(folder, mode);
  }

  /** After it nothing is being written any more. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  /** Waits only while there is much under way. */
  async #startWrite(written: Promise<void>): Promise<void> {
    // Whoever waits for it is told; until then nobody may.
    written.catch(() => {});
    this.#writes.push(written);
    if (this.#writes.length < MAX_WRITES) return;
    await Promise.all(this.#writes);
    this.#writes.length = 0;
  }

  /** A link goes itself, and never what it names. */
  async #clear(path: string, at: string): Promise<void> {
    await this.#open(path.split("/").slice(0, -1));
    const stats = await lstat(at).catch(ifMissing);
    if (stats?.isDirectory()) throw conflict(`${JSON.stringify(path)} is a folder of the workspace`);
    if (stats !== undefined) await rm(at);
  }

  async #open(names: readonly string[]): Promise<void> {
    let folder = this.#workspace;
    for (const name of names) {
      folder = join(folder, name);
      if (this.#folders.has(folder)) continue;
      const stats = await lstat(folder).catch(ifMissing);
      if (stats === undefined) await mkdir(folder);
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

async function write(
  at: string,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  mode: number,
  mtime: Date,
): Promise<void> {
  const handle = await open(at, "wx", 0o600);
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

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function conflict(text: string): MillraceError {
  return new MillraceError("conflict", text);
}

function malformed(text: string): MillraceError {
  return new MillraceError("malformed_request", text);
}
