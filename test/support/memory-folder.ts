/** Where tests keep their files: in memory, where that can be had. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * Makes memory the folder for temporary files of this process and of those that it starts. A store waits for the disk at
 * each write, so that most of a test's time would be that of the disk; no test cuts a machine's power, which alone would
 * show a difference. Does nothing when TMPDIR is set, or when there is little memory or nothing can be executed in it.
 */
export async function useMemoryFolder(): Promise<void> {
  if (process.env["TMPDIR"] !== undefined) return;
  if (await isFit(MEMORY).catch(() => false)) process.env["TMPDIR"] = MEMORY;
}

async function isFit(parent: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(parent);
  if (bavail * bsize < ROOM_BYTES) return false;
  const folder = await mkdtemp(join(parent, "millrace-trial-"));
  try {
    const program = join(folder, "program");
    await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
    await promisify(execFile)(program);
    return true;
  } finally {
    await rm(folder, { recursive: true });
  }
}
