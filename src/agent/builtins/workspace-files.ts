/**
 * Files and folders that the agent itself makes in a workspace. When steps run as another user, they belong to that user.
 * A step of another job may then replace a folder by a link while the agent works, so each file is looked at again before
 * anything is written to it.
 */
import { constants } from "node:fs";
import { type FileHandle, lchown, mkdir, open, readlink, symlink } from "node:fs/promises";
import { sep } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import type { Owner } from "../process/step-user.ts";

/** Creates a file that only its owner may read. Rejects when it exists, and with `conflict` when it lies elsewhere. */
export async function createIn(workspace: string, path: string, owner: Owner | undefined): Promise<FileHandle> {
  const handle = await open(path, "wx", 0o600);
  if (owner === undefined) return handle;
  try {
    await requireInside(workspace, handle);
    await handle.chown(owner.uid, owner.gid);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export async function makeFolderIn(workspace: string, path: string, owner: Owner | undefined): Promise<void> {
  await mkdir(path);
  if (owner === undefined) return;
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await requireInside(workspace, handle);
    await handle.chown(owner.uid, owner.gid);
  } finally {
    await handle.close();
  }
}

export async function linkIn(target: string, path: string, owner: Owner | undefined): Promise<void> {
  await symlink(target, path);
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
}

/** Where the system does not tell the place of an open file, the place is not looked at. */
async function requireInside(workspace: string, { fd }: FileHandle): Promise<void> {
  const place = await readlink(`/proc/self/fd/${fd}`).catch(() => undefined);
  if (place === undefined || place.startsWith(workspace + sep)) return;
  throw new MillraceError("conflict", "a folder of the workspace has been replaced by a link meanwhile");
}
