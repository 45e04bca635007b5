/**
 * The mount points inside a folder. Removing a folder must not descend into them: a bind mount shows the files of
 * another place, and they may lie on the same disk, so the number of the device does not tell them apart.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** `umount` serves the mounts of root; the others serve file systems that a user without rights has mounted. */
const UNMOUNT = [["umount"], ["fusermount3", "-u"], ["fusermount", "-u"]] as const;
/** A file server that does not answer can block `umount`. */
const UNMOUNT_MS = 5_000;
/** Position of the mount point in a line of mountinfo: see proc_pid_mountinfo(5). */
const MOUNT_POINT = 4;

/**
 * The mount points of the text of /proc/PID/mountinfo at or below `folder`, a real path, in the order in which they were
 * mounted. A path is listed as often as something was mounted on it.
 */
export function mountPointsOf(mountinfo: string, folder: string): string[] {
  return mountinfo
    .split("\n")
    .map((line) => unescape(line.split(" ")[MOUNT_POINT] ?? ""))
    .filter((path) => path === folder || path.startsWith(folder + sep));
}

/** The mount points at or below a path. The path may be a link itself, which is not followed. Empty without /proc. */
export function mountPointsIn(folder: string): string[] {
  // The kernel writes bytes that need not be UTF-8. Bytes as characters keep them apart, in the path as well.
  let mountinfo: string;
  try {
    mountinfo = readFileSync("/proc/self/mountinfo", "latin1");
  } catch {
    return [];
  }
  const parent = realpathSync.native(dirname(folder), "buffer").toString("latin1");
  const real = join(parent, Buffer.from(basename(folder)).toString("latin1"));
  return mountPointsOf(mountinfo, real).map((path) => Buffer.from(path, "latin1").toString());
}

/** Unmounts what is mounted at or below the path, the newest first. Returns the mount points that are left. */
export function unmountIn(folder: string): string[] {
  const mounted = mountPointsIn(folder);
  if (mounted.length === 0) return [];
  for (const path of mounted.toReversed()) unmount(path);
  return mountPointsIn(folder);
}

function unmount(path: string): void {
  for (const [program, ...flags] of UNMOUNT) {
    try {
      execFileSync(program, [...flags, "--", path], { cwd: "/", stdio: "ignore", timeout: UNMOUNT_MS });
      return;
    } catch {
      // Not permitted, in use, or no such program. The caller finds the mount point still there.
    }
  }
}

/** The kernel writes space, tab, line end, backslash and number sign as a backslash with three octal digits. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
