/**
 * A small disk for tests: a file system in memory with a size. Root mounts it. Another user makes a user namespace for
 * it, where that is allowed; then only processes that are started through {@link SmallDisk.through} see the disk.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SmallDisk {
  readonly folder: string;
  /** What a command line begins with so that the process sees the disk; empty for root. */
  readonly through: readonly string[];
  /** Removes the disk. No process may use it any more. */
  end(): Promise<void>;
}

/** Mounts a disk of so many mebibytes at `folder`, so that this process sees it too. Rejects without the rights of root. */
export async function mountSmallDisk(folder: string, mebibytes: number): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  const [command, ...args] = mountCommand(folder, mebibytes);
  await run(command, args);
  // Lazily, because a process that was just killed may still hold a file for a moment.
  return { folder, through: [], end: async () => void (await run("umount", ["-l", folder])) };
}

/** As {@link mountSmallDisk}, also without the rights of root. Rejects where the system allows neither a mount nor a namespace. */
export async function makeSmallDisk(folder: string, mebibytes: number): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  const mounted = await mountSmallDisk(folder, mebibytes).catch(() => undefined);
  if (mounted !== undefined) return mounted;
  const mount = mountCommand(folder, mebibytes);
  const holder = spawn("unshare", ["-rm", "sh", "-c", '"$@" && echo ready && cat', "sh", ...mount]);
  await ready(holder);
  return {
    folder,
    through: ["nsenter", "-t", String(holder.pid), "-U", "-m", "--preserve-credentials"],
    async end() {
      const ended = once(holder, "exit");
      holder.stdin!.end();
      await ended;
    },
  };
}

function mountCommand(folder: string, mebibytes: number): [string, ...string[]] {
  return ["mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder];
}

async function ready(holder: ChildProcess): Promise<void> {
  let output = "";
  const ended = new Promise<never>((_, reject) => {
    const refuse = (why: string) =>
      reject(new Error(`this test needs a small disk: run it as root, or allow user namespaces (${why.trim()})`));
    holder.once("error", (error) => refuse(error.message));
    holder.once("exit", () => refuse(output));
  });
  const isReady = new Promise<void>((resolve) => {
    holder.stdout!.on("data", (text: Buffer) => {
      output += text.toString();
      if (output.includes("ready")) resolve();
    });
    holder.stderr!.on("data", (text: Buffer) => (output += text.toString()));
  });
  await Promise.race([isReady, ended]);
}
