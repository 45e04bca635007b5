/** Tells whether anything has happened to a file or folder since the agent looked at it. */
import { lstatSync } from "node:fs";

/** What the system told of the file or folder at `path`. */
export interface Look {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  readonly size: number;
  readonly mode: number;
  readonly links: number;
  /** The time of the last change to the file, its rights, its names or its owner, Unix milliseconds. */
  readonly changedAtMs: number;
}

/** Undefined when nothing is there. Follows no link. */
export function lookAt(path: string): Look | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const { dev, ino, size, mode, nlink, ctimeMs } = stats;
  return { path, device: dev, inode: ino, size, mode, links: nlink, changedAtMs: ctimeMs };
}

/**
 * True when the same file or folder is still at its path, as it was at the look. The time of a change may be as coarse as 10 ms
 * on some systems: within that time after the look, what was put into a folder and a change of extended rights can be
 * missed.
 */
export function isUntouched(look: Look): boolean {
  const now = lookAt(look.path);
  return (
    now !== undefined &&
    now.changedAtMs === look.changedAtMs &&
    now.inode === look.inode &&
    now.size === look.size &&
    now.mode === look.mode &&
    now.links === look.links &&
    now.device === look.device
  );
}
