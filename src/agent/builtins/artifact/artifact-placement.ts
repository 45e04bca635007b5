/**
 * Writes the files of an artifact into a workspace, and nowhere else. A file gets its name only when it is complete and
 * its checksum was verified.
 */
import { createHash, type Hash, randomUUID } from "node:crypto";
import { type FileHandle, lstat, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ArtifactFile, FileCutter, type FilePart, isArtifactPath } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { ownerOf, type Owner } from "../../process/step-user.ts";
import { createIn, makeFolderIn } from "../workspace-files.ts";

interface OpenFile {
  readonly handle: FileHandle;
  /** The temporary path, in the folder of the final path, so that a rename completes the file. */
  readonly draft: string;
  readonly hash: Hash;
}

/** The folder of a workspace that a user has written, without what only repeats it; "" for the root. */
export function folderOf(path: string): string {
  const folder = path.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  return folder === "." ? "" : folder;
}

export class ArtifactPlacement {
  readonly #workspace: string;
  readonly #owner: Owner | undefined;
  readonly #folder: string;
  readonly #files: readonly ArtifactFile[];
  readonly #cutter: FileCutter;
  /** Paths that are known to be folders, not links. */
  readonly #folders = new Set<string>();
  #open: OpenFile | undefined;

  /**
   * `folder` is a path in the workspace, "" for its root. The content arrives in the order of `files`. Throws
   * `malformed_request` for a path that leads out of the workspace.
   */
  constructor(workspace: string, folder: string, files: readonly ArtifactFile[]) {
    for (const path of [...(folder === "" ? [] : [folder]), ...files.map(({ path: each }) => each)]) {
      if (!isArtifactPath(path)) throw malformed(`${JSON.stringify(path)} is no path within the workspace`);
    }
    this.#workspace = workspace;
    this.#owner = ownerOf(workspace);
    this.#folder = folder;
    this.#files = files;
    this.#cutter = new FileCutter(files);
  }

  /** The index of the first incomplete file, and how many of its bytes were written. */
  get position(): { readonly index: number; readonly offset: number } {
    return this.#cutter.position;
  }

  /** True when every file has its content and its name. */
  get isComplete(): boolean {
    return this.#cutter.position.index === this.#files.length;
  }

  /**
   * Writes the next bytes of the content. The first call must pass no bytes, so that empty files are created. Rejects
   * with `conflict` when a file cannot be written, and when its content does not match its checksum.
   */
  async write(bytes: Uint8Array): Promise<void> {
    for (const part of this.#cutter.cut(bytes)) {
      const file = this.#files[part.index]!;
      try {
        await this.#put(file, part);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw code === undefined ? error : conflict(file.path, `cannot be put into the workspace (${code})`);
      }
    }
  }

  async #put(file: ArtifactFile, { bytes, isLast }: FilePart): Promise<void> {
    this.#open ??= await this.#begin(file.path);
    const { handle, draft, hash } = this.#open;
    hash.update(bytes);
    for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
    if (!isLast) return;
    if (hash.digest("hex") !== file.sha256) throw conflict(file.path, "does not match its checksum");
    await handle.chmod(file.executable ? 0o755 : 0o644);
    await handle.close();
    // The rename replaces an existing file. It replaces a link itself, never the link's target.
    await rename(draft, this.#placeOf(file.path));
    this.#open = undefined;
  }

  /** Removes an incomplete file. */
  async dispose(): Promise<void> {
    if (this.#open === undefined) return;
    await this.#open.handle.close().catch(() => {});
    await rm(this.#open.draft, { force: true });
    this.#open = undefined;
  }

  async #begin(path: string): Promise<OpenFile> {
    const place = this.#placeOf(path);
    await this.#makeFolders(path);
    const draft = join(dirname(place), `.${randomUUID()}.part`);
    return { handle: await createIn(this.#workspace, draft, this.#owner), draft, hash: createHash("sha256") };
  }

  async #makeFolders(path: string): Promise<void> {
    let folder = this.#workspace;
    const names = join(this.#folder, path).split("/").slice(0, -1);
    for (const name of names) {
      folder = join(folder, name);
      if (this.#folders.has(folder)) continue;
      const stats = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (stats === undefined) await makeFolderIn(this.#workspace, folder, this.#owner);
      else if (!stats.isDirectory()) throw conflict(path, `cannot be put there: ${JSON.stringify(name)} is no folder`);
      this.#folders.add(folder);
    }
  }

  #placeOf(path: string): string {
    return join(this.#workspace, this.#folder, path);
  }
}

function conflict(path: string, text: string): MillraceError {
  return new MillraceError("conflict", `the file ${JSON.stringify(path)} ${text}`);
}

function malformed(text: string): MillraceError {
  return new MillraceError("malformed_request", text);
}
