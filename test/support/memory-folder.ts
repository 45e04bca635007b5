/** The folder for temporary files of tests: in memory where the machine allows it. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * Sets TMPDIR of this process, and of the processes that it starts, to a folder in memory. A store waits for the disk
 * at each write, so most of a test's time would be spent on the disk. Only a test that cuts the machine's power could
 * see a difference, and there is no such test. Does nothing when TMPDIR is set, when little memory is free, or when the
 * folder refuses to execute programs.
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
