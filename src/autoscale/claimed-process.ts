/**
 * A process that exists at most once for each key, whatever is killed when. Before the command runs, its process puts a claim
 * in the file of the key; the starter, once it has been started again, abandons a key without a claim by putting one there
 * itself. A hard link is made by one of the two alone, so the process either runs under the key or ends at once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";

/**
 * `$1` is the claim, the others are the command. The shell replaces itself by the command, which so has the process id of the
 * claim. The second line of a claim is what Linux says of the process: when it began tells it from a later one with its id.
 */
const CLAIM_SCRIPT = `
claim=$1; shift
stat=
if [ -r /proc/self/stat ]; then read -r stat </proc/self/stat; fi
printf '%s\\n%s\\n' "$$" "$stat" >"$claim.$$" && ln "$claim.$$" "$claim" 2>/dev/null || exit 75
rm -f "$claim.$$"
exec "$@"`;

const ABANDONED = "abandoned\n";

export interface ClaimedStart {
  /** The file that holds the claim. Its folder exists. */
  readonly claim: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  /** An open file to which the process writes its output. */
  readonly output: number;
}

/** Starts the process in a session of its own: it outlives its starter. */
export function startClaimed({ claim, command, environment, folder, output }: ClaimedStart): ChildProcess {
  return spawn("/bin/sh", ["-c", CLAIM_SCRIPT, "sh", claim, ...command], {
    cwd: folder,
    detached: true,
    env: environment,
    stdio: ["ignore", output, output],
  });
}

/** The id of the process that runs under the claim; undefined when it has ended, and when no process has claimed yet. */
export function processOf(claim: string): number | undefined {
  const [pid = "", stat = ""] = (read(claim) ?? "").split("\n");
  if (!/^\d+$/.test(pid)) return undefined;
  if (stat === "") return isThere(Number(pid)) ? Number(pid) : undefined;
  const now = read(`/proc/${pid}/stat`) ?? "";
  const [claimed, found] = [factsOf(stat), factsOf(now)];
  // A zombie has ended: its parent has not asked for its status yet.
  return claimed.began === found.began && !"ZX".includes(found.state) ? Number(pid) : undefined;
}

/** Makes sure that no process begins under this claim from now on. False when one has claimed before. */
export function abandon(claim: string): boolean {
  const draft = `${claim}.abandoned`;
  writeFileSync(draft, ABANDONED);
  try {
    linkSync(draft, claim);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return read(claim) === ABANDONED;
  } finally {
    unlinkSync(draft);
  }
}

/** The state, and when the process began, in ticks since the start of the machine. */
function factsOf(stat: string): { readonly state: string; readonly began: string } {
  // The name before the last parenthesis may hold any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "X", began: fields[19] ?? "" };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}
