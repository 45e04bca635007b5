/** Kills the processes of steps by a shell beside this process. */
import { spawn } from "node:child_process";
import { ownPath } from "../../program-path.ts";
import { KILL_ALL, MARK } from "./kill-script.ts";

/**
 * Kills every process with a mark that begins with `mark`, and the cgroups whose paths begin with `cgroups`; empty for none.
 * Resolves when that is done. The shell has a process group of its own: it carries the mark, so the guard may kill it with its
 * group, when both kill the same steps.
 */
export function killAllMarked(mark: string, cgroups: string): Promise<void> {
  return new Promise((resolve) => {
    const shell = spawn("/bin/sh", ["-c", KILL_ALL, "millrace-kill", mark, cgroups], {
      cwd: "/",
      // The mark must not be the first variable: see KILL_MARKED.
      env: { PATH: ownPath(), LC_ALL: "C", [MARK]: mark },
      stdio: "ignore",
      detached: true,
    });
    shell.once("error", () => resolve());
    shell.once("exit", () => resolve());
  });
}
