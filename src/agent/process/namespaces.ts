/**
 * Namespaces of steps, by bubblewrap: a step sees the machine read-only, its own processes, and no network. It may write into
 * its workspace, its own files, and temporary folders that end with it.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { MillraceError } from "../../domain/errors.ts";
import { findOnPath } from "../../program-path.ts";
import type { Command } from "./step-limits.ts";
import type { Owner } from "./step-user.ts";

export interface NamespacePlace {
  /** Folders that are empty for the step, such as the data directory of the agent. */
  readonly hidden: readonly string[];
  /** Folders that the step may write. They may be in hidden ones. */
  readonly folders: readonly string[];
  readonly hasNetwork: boolean;
}

/** Folders that all users of a machine write, and the sockets of its services. */
const SHARED = ["/tmp", "/var/tmp", "/run"];
/** Where the names of hosts may be looked up, in a folder that is hidden. */
const RESOLVER = "/run/systemd/resolve";
const ALWAYS = "--die-with-parent --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL".split(
  " ",
);
/** The file system of the machine, with devices and processes of its own. */
const MACHINE = "--ro-bind / / --dev /dev --proc /proc".split(" ");
const PROBE_MS = 10_000;
const PROBE_EXIT = 7;

/** The command in its namespaces. Its exit code is that of the program; 128 and the number of the signal that ended it. */
export function inNamespaces(command: Command, { hidden, folders, hasNetwork }: NamespacePlace): Command {
  const [env, bwrap] = [findOnPath("env") ?? "env", findOnPath("bwrap") ?? "bwrap"];
  const emptied = [...SHARED, ...hidden].filter((folder) => folder !== "/" && existsSync(folder));
  return [
    // SIGTERM goes to the whole process group. Bubblewrap would end by it, and kill the step with itself.
    env,
    "--ignore-signal=TERM",
    bwrap,
    ...ALWAYS,
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...MACHINE,
    ...emptied.flatMap((folder) => ["--tmpfs", folder]),
    ...(hasNetwork ? ["--ro-bind-try", RESOLVER, RESOLVER] : []),
    ...folders.flatMap((folder) => ["--bind", folder, folder]),
    "--",
    env,
    "--default-signal=TERM",
    ...asProgram(command),
  ];
}

/** `env` would take a program with `=` in its path for a variable. */
function asProgram(command: Command): readonly string[] {
  return command[0].includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...command] : command;
}

/** Throws `malformed_request` when this machine runs no program in namespaces. `user`: as whom steps run; undefined: as the agent. */
export async function checkNamespaces(user: Owner | undefined): Promise<void> {
  const place = { hidden: [], folders: [], hasNetwork: false };
  const [program, ...args] = inNamespaces(["/bin/sh", "-c", `exit ${PROBE_EXIT}`], place);
  const options = { cwd: "/", timeout: PROBE_MS, ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }) };
  const [code, problem] = await new Promise<readonly [unknown, string]>((resolve) =>
    execFile(program, args, options, (error, _, stderr) =>
      resolve([error?.code, stderr.trim() || (error?.message ?? "")]),
    ),
  );
  if (code === PROBE_EXIT) return;
  throw new MillraceError(
    "malformed_request",
    `the isolation \`namespaces\` does not work here: it needs bubblewrap (\`bwrap\`) and \`env\` of GNU coreutils 8.31 or later, and the right to make namespaces: ${problem.slice(0, 500)}`,
  );
}
