/**
 * The cache of registry plugins on this machine. Each package has a folder whose name is its checksum. Before each use
 * every file is compared with its checksum, since steps run with the agent's rights and may change files. A package
 * that is missing or changed is fetched again.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { lstat, mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MillraceError } from "../../../domain/errors.ts";
import type { Logger } from "../../../domain/logger.ts";
import type { PluginPin } from "../../../domain/plugins.ts";
import { Holds } from "../../../domain/work/holds.ts";
import { InTurn } from "../../../domain/work/in-turn.ts";

export interface PluginCacheOptions {
  /** Created when it is needed. */
  readonly folder: string;
  /**
   * Upper bound on all cached files in bytes. Beyond it, the plugins that were not used for the longest time are
   * removed; plugins in use stay.
   */
  readonly limitBytes: number;
  readonly log: Logger;
}

export interface PluginRequest extends PluginPin {
  /** The `uses` of the step, for messages. */
  readonly uses: string;
  /** Fetches the package. The cache verifies its checksum. */
  readonly fetch: () => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

export interface CachedPlugin {
  /** The folder with the plugin's files, which must not be changed. */
  readonly folder: string;
  /** Call when the plugin is no longer used. Until then it is not removed. Idempotent. */
  release(): void;
}

/** Content of the marker file beside the plugin's files: the files as they were unpacked. */
interface Marker {
  /** Size of all files. */
  readonly bytes: number;
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly executable: boolean }[];
}

const MARKER_FILE = "files.json";
const CONTENT_FOLDER = "plugin";

export class PluginCache {
  readonly #options: PluginCacheOptions;
  /** The steps that use or wait for a package, by its checksum. */
  readonly #uses = new Holds();
  /** By checksum: only one of the requests for a package fetches it. */
  readonly #requests = new InTurn();

  constructor(options: PluginCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the plugin of the package, and fetches it if it is not cached. Rejects with `conflict` when the fetched
   * package has another checksum, with the problem of a package that cannot be unpacked, with the error of `fetch`, or
   * with the reason of `signal`.
   */
  async obtain(request: PluginRequest): Promise<CachedPlugin> {
    const { sha256, signal } = request;
    if (!/^[0-9a-f]{64}$/.test(sha256))
      throw new MillraceError("malformed_request", "a plugin came without a checksum");
    const release = this.#uses.hold(sha256);
    const unpacked = this.#requests.run(sha256, () => {
      signal.throwIfAborted();
      return this.#ensureUnpacked(request);
    });
    try {
      await unlessAborted(signal, unpacked);
      return { folder: join(this.#folderOf(sha256), CONTENT_FOLDER), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #ensureUnpacked({ uses, sha256, fetch }: PluginRequest): Promise<void> {
    const { log, folder } = this.#options;
    const place = this.#folderOf(sha256);
    const changed = await findChange(place);
    if (changed === undefined) {
      const now = new Date();
      await utimes(join(place, MARKER_FILE), now, now);
      return;
    }
    if (changed !== "") {
      log.warn({ plugin: uses, sha256, changed }, "a plugin on this machine has changed; it is fetched again");
    }
    const packed = await fetch();
    const found = createHash("sha256").update(packed).digest("hex");
    if (found !== sha256) {
      const text = `the package of ${uses} has the checksum ${found}, and this run was planned with ${sha256}: it is not used; look at the registry`;
      throw new MillraceError("conflict", text);
    }
    const draft = join(folder, `.new-${randomUUID()}`);
    try {
      await unpack(packed, draft);
      await rm(place, { recursive: true, force: true });
      await rename(draft, place);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    log.info({ plugin: uses, sha256, bytes: packed.length }, "a plugin is fetched");
    await this.#evict();
  }

  /** Removes unused plugins until the rest is within the bound. */
  async #evict(): Promise<void> {
    const { folder, limitBytes, log } = this.#options;
    const entries: { readonly name: string; readonly bytes: number; readonly usedAt: number }[] = [];
    for (const name of readdirSync(folder)) {
      if (name.startsWith(".")) continue;
      const marker = await readMarker(join(folder, name));
      const usedAt = marker === undefined ? 0 : lstatSync(join(folder, name, MARKER_FILE), { throwIfNoEntry: false });
      entries.push({ name, bytes: marker?.bytes ?? 0, usedAt: usedAt ? usedAt.mtimeMs : 0 });
    }
    let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    for (const entry of entries.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (bytes <= limitBytes) return;
      // Checked and moved aside in one turn of the event loop, so that no step begins to use the plugin in between.
      if (this.#uses.has(entry.name)) continue;
      const aside = join(folder, `.old-${randomUUID()}`);
      renameSync(join(folder, entry.name), aside);
      bytes -= entry.bytes;
      log.info({ sha256: entry.name, bytes: entry.bytes }, "a plugin that was not used for a long time is removed");
      await rm(aside, { recursive: true, force: true });
    }
  }

  #folderOf(sha256: string): string {
    return join(this.#options.folder, sha256);
  }
}

/** Removes the unfinished folders of an agent that was killed. Call it before the cache folder is used. */
export async function clearDrafts(folder: string): Promise<void> {
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return; // The folder does not exist yet.
  }
  for (const name of names.filter((each) => each.startsWith("."))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Settles as the work does, or rejects with the reason of the signal before. The work is not stopped. */
async function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function unpack(packed: Uint8Array, draft: string): Promise<void> {
  // Loaded on demand: most agents never run a plugin.
  const { readPackage } = await import("../../../plugins/package.ts");
  const files: Marker["files"][number][] = [];
  let bytes = 0;
  await mkdir(join(draft, CONTENT_FOLDER), { recursive: true, mode: 0o755 });
  await readPackage(packed, async ({ path, content, executable }) => {
    const place = join(draft, CONTENT_FOLDER, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content, { flag: "wx", mode: executable ? 0o555 : 0o444 });
    files.push({ path, sha256: hashOf(content), executable });
    bytes += content.length;
  });
  await writeFile(join(draft, MARKER_FILE), JSON.stringify({ bytes, files } satisfies Marker));
}

/**
 * The first file of a plugin that has changed since it was unpacked; "" without the plugin, undefined without a change.
 */
async function findChange(place: string): Promise<string | undefined> {
  const marker = await readMarker(place);
  if (marker === undefined) return lstatSync(place, { throwIfNoEntry: false }) === undefined ? "" : MARKER_FILE;
  for (const { path, sha256, executable } of marker.files) {
    const file = join(place, CONTENT_FOLDER, path);
    try {
      const stats = await lstat(file);
      const hasSameMode = stats.isFile() && ((stats.mode & 0o100) !== 0) === executable;
      if (!hasSameMode || hashOf(await readFile(file)) !== sha256) return path;
    } catch {
      return path;
    }
  }
  return undefined;
}

async function readMarker(place: string): Promise<Marker | undefined> {
  try {
    const marker = JSON.parse(await readFile(join(place, MARKER_FILE), "utf8")) as Marker;
    return Array.isArray(marker.files) && marker.files.length > 0 ? marker : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
