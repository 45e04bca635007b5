/**
 * The cache of mirrors: bare, shallow repositories without the content of files, one for each owner, address and credential,
 * in a folder of this process. A mirror may be thrown away at any moment, and is whenever something looks wrong with it.
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { GitFault } from "./git-fault.ts";

export interface MirrorBounds {
  /** Packs and loose objects of one mirror; more, and it is thrown away after use. */
  readonly files: number;
  readonly bytes: number;
  /** All mirrors together; the one whose last use is the oldest is thrown away first. */
  readonly totalBytes: number;
}

/** A mirror holds something else than it should. It is thrown away, and the work is done once more. */
export class DamagedMirror extends Error {
  override readonly name = "DamagedMirror";
}

export class Mirrors {
  readonly #folder: string;
  readonly #bounds: MirrorBounds;
  /** Bytes by key, in the order of the last use, oldest first. */
  readonly #bytes = new Map<string, number>();
  readonly #inUse = new Set<string>();
  /** Names of folders do not give credentials away. */
  readonly #keySecret = randomBytes(32);
  #begun: Promise<void> | undefined;

  /** `parent` is made when it is missing; leftovers of processes that have ended are removed from it. */
  constructor(parent: string, bounds: MirrorBounds) {
    this.#folder = join(parent, `${process.pid}-${randomUUID().slice(0, 8)}`);
    this.#bounds = bounds;
  }

  /** An empty folder in place of a user's home. */
  get home(): string {
    return join(this.#folder, "home");
  }

  /** Where files with keys are made; only this user may read it. */
  get privateFolder(): string {
    return join(this.#folder, "keys");
  }

  /** The mirror of what one credential may read: what is in it is not asked for again. */
  keyOf(owner: string, url: string, credential: string | null): string {
    const shared = JSON.stringify([owner, url, credential]);
    return createHmac("sha256", this.#keySecret).update(shared).digest("hex").slice(0, 32);
  }

  /**
   * Works with a mirror; the caller sees to it that nothing else does. The work gets the path of the repository, which may
   * not exist yet. The mirror is thrown away when the work rejects with anything but an expected refusal of the server.
   */
  async use<T>(key: string, work: (path: string) => Promise<T>): Promise<T> {
    await this.begin();
    this.#inUse.add(key);
    try {
      return await this.#tryTwice(key, work);
    } finally {
      await this.#settle(key);
      this.#inUse.delete(key);
    }
  }

  /** Works with a repository that is removed afterwards. */
  async scratch<T>(work: (path: string) => Promise<T>): Promise<T> {
    await this.begin();
    const path = join(this.#folder, `scratch-${randomUUID()}`);
    try {
      return await work(path);
    } finally {
      await remove(path);
    }
  }

  /** Makes the folders once. */
  begin(): Promise<void> {
    this.#begun ??= this.#prepare().catch((error: unknown) => {
      this.#begun = undefined;
      throw error;
    });
    return this.#begun;
  }

  async close(): Promise<void> {
    await remove(this.#folder);
  }

  async #prepare(): Promise<void> {
    const parent = join(this.#folder, "..");
    await mkdir(parent, { recursive: true, mode: 0o700 });
    const left = (await readdir(parent)).filter((name) => !isAlive(name));
    await Promise.all(left.map((name) => remove(join(parent, name))));
    await mkdir(this.home, { recursive: true, mode: 0o700 });
    await mkdir(this.privateFolder, { recursive: true, mode: 0o700 });
  }

  async #tryTwice<T>(key: string, work: (path: string) => Promise<T>): Promise<T> {
    const path = this.#pathOf(key);
    try {
      return await work(path);
    } catch (error) {
      if (error instanceof GitFault && KEEPS_MIRROR.has(error.kind)) throw error;
      await remove(path);
      // Another process may have removed this folder as a leftover.
      await this.#prepare();
      if (!(error instanceof DamagedMirror)) throw error;
    }
    try {
      return await work(path);
    } catch (error) {
      if (!(error instanceof DamagedMirror)) throw error;
      await remove(path);
      throw new GitFault("other", `the copy of the repository cannot be read: ${error.message}`);
    }
  }

  /** Throws away what has grown too large. */
  async #settle(key: string): Promise<void> {
    const { files, bytes } = await sizeOf(this.#pathOf(key));
    this.#bytes.delete(key);
    if (files > this.#bounds.files || bytes > this.#bounds.bytes) await remove(this.#pathOf(key));
    else if (files > 0) this.#bytes.set(key, bytes);
    let total = [...this.#bytes.values()].reduce((sum, each) => sum + each, 0);
    for (const [oldest, size] of this.#bytes) {
      if (total <= this.#bounds.totalBytes) return;
      if (oldest !== key && this.#inUse.has(oldest)) continue;
      this.#bytes.delete(oldest);
      total -= size;
      await remove(this.#pathOf(oldest));
    }
  }

  #pathOf(key: string): string {
    return join(this.#folder, `${key}.git`);
  }
}

/** Faults that say nothing about the mirror. */
const KEEPS_MIRROR: ReadonlySet<GitFault["kind"]> = new Set([
  "noGit",
  "noSsh",
  "forbiddenAddress",
  "redirected",
  "certificate",
  "unknownHostKey",
  "changedHostKey",
  "authentication",
  "readOnly",
  "notFound",
  "noRef",
  "unreachable",
  "tooMany",
]);

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
}

async function sizeOf(repository: string): Promise<{ readonly files: number; readonly bytes: number }> {
  let files = 0;
  let bytes = 0;
  const entries = await readdir(repository, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    files++;
    bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return { files, bytes };
}

/** Whether the folder of that name belongs to a process that lives. */
function isAlive(name: string): boolean {
  const pid = Number(/^(\d+)-/.exec(name)?.[1]);
  if (!Number.isInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
