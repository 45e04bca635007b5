/**
 * Plugins of the registry on this machine, a folder for each package under its checksum. What lies there is compared file by
 * file before each use, since steps have the agent's rights; what is gone or changed is fetched anew.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { lstat, mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MillraceError } from "../../../domain/errors.ts";
import type { Logger } from "../../../domain/logger.ts";
import type { PluginPin } from "../../../domain/plugins.ts";

export interface PluginCacheOptions {
  /** Made when it is needed. */
  readonly folder: string;
  /** Files of all plugins that no step uses just now, bytes; what was not used for longest goes first. */
  readonly limitBytes: number;
  readonly log: Logger;
}

export interface PluginRequest extends PluginPin {
  /** For people. */
  readonly uses: string;
  /** Of the package; what is wrong with it is found here. */
  readonly fetch: () => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

export interface CachedPlugin {
  /** Where its files lie; they are not to be changed. */
  readonly folder: string;
  /** Call when it is no longer used. */
  release(): void;
}

/** Beside the files: what each of them was when it was unpacked. */
interface Marker {
  /** Of all files. */
  readonly bytes: number;
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly executable: boolean }[];
}

const MARKER_FILE = "files.json";
const CONTENT_FOLDER = "plugin";

export class PluginCache {
  readonly #options: PluginCacheOptions;
  /** How many steps use or wait for a package, by its checksum. */
  readonly #held = new Map<string, number>();
  /** The last that waits for its turn at a package. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(options: PluginCacheOptions) {
    this.#options = options;
  }

  /**
   * The plugin of that package. Rejects with `conflict` for a package without the checksum, with what is wrong with one that
   * has it, with what `fetch` rejects with, and with the reason of `signal`.
   */
  async obtain(wanted: PluginRequest): Promise<CachedPlugin> {
    const { sha256, signal } = wanted;
    if (!/^[0-9a-f]{64}$/.test(sha256))
      throw new MillraceError("malformed_request", "a plugin came without a checksum");
    this.#held.set(sha256, (this.#held.get(sha256) ?? 0) + 1);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const others = this.#held.get(sha256)! - 1;
      if (others > 0) this.#held.set(sha256, others);
      else this.#held.delete(sha256);
    };
    try {
      await this.#inTurn(sha256, signal, () => this.#ready(wanted));
      return { folder: join(this.#folderOf(sha256), CONTENT_FOLDER), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Of those that want the same package one fetches it. */
  async #inTurn(sha256: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(sha256) ?? Promise.resolve();
    const turn = before.then(() => {
      signal.throwIfAborted();
      return work();
    });
    const over = turn.catch(() => {});
    this.#turns.set(sha256, over);
    void over.then(() => {
      if (this.#turns.get(sha256) === over) this.#turns.delete(sha256);
    });
    let stop = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      await Promise.race([turn, aborted]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #ready({ uses, sha256, fetch }: PluginRequest): Promise<void> {
    const { log, folder } = this.#options;
    const place = this.#folderOf(sha256);
    const changed = await changeIn(place);
    if (changed === undefined) {
      const now = new Date();
      await utimes(join(place, MARKER_FILE), now, now);
      return;
    }
    if (changed !== "") {
      log.warn({ plugin: uses, sha256, changed }, "a plugin on this machine is not what it was; it is fetched anew");
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

  /** Also what an agent that was killed had begun to unpack. */
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
      // In one turn: nobody begins to use what is moved aside.
      if (this.#held.has(entry.name)) continue;
      const aside = join(folder, `.old-${randomUUID()}`);
      renameSync(join(folder, entry.name), aside);
      bytes -= entry.bytes;
      log.info({ sha256: entry.name, bytes: entry.bytes }, "a plugin that was not used for long is removed");
      await rm(aside, { recursive: true, force: true });
    }
  }

  #folderOf(sha256: string): string {
    return join(this.#options.folder, sha256);
  }
}

/** Removes what an agent that was killed has left half done. Call before the folder is used. */
export async function clearDrafts(folder: string): Promise<void> {
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return; // There is none yet.
  }
  for (const name of names.filter((each) => each.startsWith("."))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function unpack(packed: Uint8Array, draft: string): Promise<void> {
  // Most agents never see a plugin.
  const { readPackage } = await import("../../../plugins/package.ts");
  const files: Marker["files"][number][] = [];
  let bytes = 0;
  await mkdir(join(draft, CONTENT_FOLDER), { recursive: true, mode: 0o700 });
  await readPackage(packed, async ({ path, content, executable }) => {
    const place = join(draft, CONTENT_FOLDER, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content, { flag: "wx", mode: executable ? 0o555 : 0o444 });
    files.push({ path, sha256: hashOf(content), executable });
    bytes += content.length;
  });
  await writeFile(join(draft, MARKER_FILE), JSON.stringify({ bytes, files } satisfies Marker));
}

/** What is amiss with a plugin: "" when it is not there, undefined when it is as it was unpacked. */
async function changeIn(place: string): Promise<string | undefined> {
  const marker = await readMarker(place);
  if (marker === undefined) return lstatSync(place, { throwIfNoEntry: false }) === undefined ? "" : MARKER_FILE;
  for (const { path, sha256, executable } of marker.files) {
    const file = join(place, CONTENT_FOLDER, path);
    try {
      const stats = await lstat(file);
      const isAsItWas = stats.isFile() && ((stats.mode & 0o100) !== 0) === executable;
      if (!isAsItWas || hashOf(await readFile(file)) !== sha256) return path;
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
