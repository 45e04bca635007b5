/** Packs the files, folders and links that a cache keeps of a workspace into a gzipped tar, with their modes. */
import { createHash } from "node:crypto";
import { constants, createWriteStream, type Stats } from "node:fs";
import { lstat, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Header, pack, type Pack } from "tar-stream";
import { isArtifactPath } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { type FoundFile, holesIn, sizeOf } from "../artifact/artifact-files.ts";
import { escapedName, findNameless, textOf } from "../byte-names.ts";
import { isInnerLink } from "./cache-paths.ts";
import type { PathPatterns } from "../patterns.ts";

/** Opening a pipe must not wait for a writer, and no link may be followed. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Files up to this size are read as a whole, ahead of time. Most files are small. */
const WHOLE_BYTES = 1 << 20;
/** How many entries of a folder are read at the same time. */
const READ_AHEAD = 16;
/** The fastest compression, since a cache must be quick. */
const LEVEL = 1;

export interface PackOptions {
  readonly signal: AbortSignal;
  /** The most bytes of the packed entry, and of all holes in the files, which take time and no space. */
  readonly mostBytes: number;
}

export interface PackedCache {
  readonly archive: FoundFile;
  /** Number of files and links. */
  readonly count: number;
}

/**
 * Packs the matching files, folders and links into the new file `file`. Rejects with `malformed_request` for a link
 * that leads out of the workspace or a name that is not a portable path, with `too_large` for more than `mostBytes`, with
 * the reason of `signal`, or with errors of the disk.
 */
export async function packCache(
  workspace: string,
  patterns: PathPatterns,
  file: string,
  { signal, mostBytes }: PackOptions,
): Promise<PackedCache> {
  const tar = pack();
  const hash = createHash("sha256");
  let packedBytes = 0;
  async function* measured(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const block of blocks) {
      packedBytes += block.length;
      if (packedBytes > mostBytes)
        throw tooLarge(`it has more than the ${mostBytes} bytes that are allowed for an entry`);
      hash.update(block);
      yield block;
    }
  }
  const packing = new Packing(workspace, patterns, tar, { signal, mostBytes });
  // An error of the packing ends the stream that is read below, and an error of that stream ends the packing.
  const packed = packing.run().then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  );
  const blocks = Readable.from(tar as AsyncIterable<Uint8Array>);
  const target = createWriteStream(file, { flags: "wx", mode: 0o600 });
  try {
    await pipeline(blocks, createGzip({ level: LEVEL }), measured, target, { signal });
  } finally {
    await packed;
  }
  const { dev, ino, size, mtimeMs } = await stat(file);
  const seen = { dev, ino, size, mtimeMs };
  const sha256 = hash.digest("hex");
  const archive = { path: "the packed cache", realPath: file, sizeBytes: size, sha256, executable: false, seen };
  return { archive, count: packing.count };
}

interface Entry {
  readonly path: string;
  readonly at: string;
  readonly stats: Stats;
  readonly matches: boolean;
  /** The content of a small file. */
  readonly content: Buffer | undefined;
}

class Packing {
  count = 0;
  readonly #workspace: string;
  readonly #patterns: PathPatterns;
  readonly #tar: Pack;
  readonly #signal: AbortSignal;
  readonly #mostBytes: number;
  #holeBytes = 0;

  constructor(workspace: string, patterns: PathPatterns, tar: Pack, { signal, mostBytes }: PackOptions) {
    this.#workspace = workspace;
    this.#patterns = patterns;
    this.#tar = tar;
    this.#signal = signal;
    this.#mostBytes = mostBytes;
  }

  /** Packs everything that matches. A place behind a link is skipped. */
  async run(): Promise<void> {
    for (const start of this.#patterns.starts) {
      const folder = dirname(join(this.#workspace, start));
      const isThere = start === "" || (await realpath(folder).catch(() => undefined)) === folder;
      if (isThere) await this.#add(await this.#read(start));
    }
  }

  /** Undefined when nothing exists at the path any more. */
  async #read(path: string): Promise<Entry | undefined> {
    this.#signal.throwIfAborted();
    const at = join(this.#workspace, path);
    const stats = await lstat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    if (stats === undefined) return undefined;
    const matches = path !== "" && this.#patterns.matches(path);
    if (matches && !isArtifactPath(path)) throw malformed(`${JSON.stringify(path)} cannot be kept under its name`);
    if (matches && stats.isFile()) this.#checkHoles(path, stats);
    const isRead = matches && stats.isFile() && stats.size <= WHOLE_BYTES;
    return { path, at, stats, matches, content: isRead ? await readWhole(at, stats.size) : undefined };
  }

  #checkHoles(path: string, stats: Stats): void {
    this.#holeBytes += holesIn(stats);
    if (this.#holeBytes <= this.#mostBytes) return;
    throw tooLarge(`${JSON.stringify(path)} has ${sizeOf(stats)}; ${this.#mostBytes} are allowed for an entry`);
  }

  /** The names in a folder. Rejects when the pattern matches something whose name is no UTF-8. */
  async #namesIn(folder: string, at: string): Promise<readonly string[]> {
    const names: string[] = [];
    for (const entry of await readdir(at, { withFileTypes: true, encoding: "buffer" })) {
      const name = textOf(entry.name);
      const within = { path: Buffer.from(folder), at: Buffer.from(at) };
      const found = name === undefined && (await findNameless(within, entry, this.#patterns, this.#signal));
      if (found) throw malformed(`${found} cannot be kept under its name, which is no UTF-8`);
      if (name !== undefined) names.push(name);
    }
    return names;
  }

  async #add(entry: Entry | undefined): Promise<void> {
    if (entry === undefined) return;
    const { path: name, at, stats, matches, content } = entry;
    const mode = stats.mode & 0o777;
    if (stats.isDirectory()) {
      if (matches) await this.#write({ name, type: "directory", mode });
      const names = await this.#namesIn(name, at);
      for (let from = 0; from < names.length; from += READ_AHEAD) {
        const paths = names.slice(from, from + READ_AHEAD).map((each) => (name === "" ? each : `${name}/${each}`));
        for (const each of await Promise.all(paths.map((path) => this.#read(path)))) await this.#add(each);
      }
    } else if (stats.isSymbolicLink() && matches) {
      const target = await readlink(at, { encoding: "buffer" });
      const linkname = textOf(target);
      if (linkname === undefined)
        throw malformed(`the link ${JSON.stringify(name)} leads to ${escapedName(target)}, which is no UTF-8`);
      if (!isInnerLink(name, linkname)) throw malformed(`the link ${JSON.stringify(name)} leads out of the workspace`);
      await this.#write({ name, type: "symlink", linkname });
      this.count++;
    } else if (stats.isFile() && matches) {
      const header = { name, type: "file", mode, mtime: stats.mtime, size: stats.size } as const;
      await this.#write(header, content ?? (await open(at, OPEN_FLAGS)).createReadStream({ end: stats.size - 1 }));
      this.count++;
    }
  }

  #write(
    header: Partial<Header> & Pick<Header, "name">,
    content: Buffer | AsyncIterable<Buffer> = Buffer.alloc(0),
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error | null): void => (error ? reject(error) : resolve());
      if (Buffer.isBuffer(content)) this.#tar.entry(header, content, done);
      else pipeline(content, this.#tar.entry(header, done)).catch(reject);
    });
  }
}

async function readWhole(at: string, size: number): Promise<Buffer> {
  const handle = await open(at, OPEN_FLAGS);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function tooLarge(text: string): MillraceError {
  return new MillraceError("too_large", text);
}

function malformed(text: string): MillraceError {
  return new MillraceError("malformed_request", text);
}
