/**
 * The user as whom steps run, when it is another than the agent's own. Steps can then read neither the agent's token nor
 * its memory. All steps of an agent run as the same user: it is a boundary between steps and the agent, and none between
 * jobs.
 */
import { execFile, spawn } from "node:child_process";
import { chownSync, lstatSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MillraceError } from "../../domain/errors.ts";
import { ownPath } from "../../program-path.ts";

export interface StepUser {
  readonly name: string;
  readonly uid: number;
  /** The user's own group; a step has no other. */
  readonly gid: number;
  readonly home: string;
}

/** The owner of a file. */
export type Owner = Pick<StepUser, "uid" | "gid">;

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;
/** A file of the program: a user who can read it can read the others. */
const PROGRAM_FILE = fileURLToPath(import.meta.url);

/** What a step needs that is not its own. Prints what the user $0 cannot have, as the rest of a sentence. */
const CHECK = `
[ -x "$1" ] || { echo "cannot run $1: install Node where every user can run it"; exit; }
[ -r "$2" ] || { echo "cannot read $2: install millrace where every user can read it"; exit; }
cd "$3" 2>/dev/null || { echo "cannot enter $3: start the agent in another folder"; exit; }
cd "$4" 2>/dev/null || { echo "cannot enter $4: choose a data directory whose parent folders every user may enter"; exit; }
[ ! -r "$5" ] || echo "can read $5, which holds the token of the agent"
`;

/** Looks the user up. Rejects with `malformed_request` for an unknown user, for root, and for the agent's own user. */
export async function findStepUser(name: string): Promise<StepUser> {
  if (!NAME.test(name)) throw unusable(name, "this is no name of a user");
  const number = async (flag: string) => Number(await output("id", [flag, name]));
  const [uid, gid] = await Promise.all([number("-u"), number("-g")]).catch(() => {
    throw unusable(name, "this machine has no such user");
  });
  if (uid === 0) throw unusable(name, "root can read all that the agent can");
  if (uid === process.geteuid!()) throw unusable(name, "the agent itself runs as this user");
  const home = await output("/bin/sh", ["-c", `echo ~${name}`]);
  return { name, uid, gid, home };
}

/**
 * Checks by a process of the user that steps can run as the user: that the agent may start it, and that the user can run
 * Node and enter `workDir`. Rejects with `malformed_request`, whose text says what to do.
 */
export async function checkStepUser(user: StepUser, workDir: string, tokenFile: string): Promise<void> {
  const { name } = user;
  const check = ["/bin/sh", "-c", CHECK, name, process.execPath, PROGRAM_FILE, process.cwd(), workDir, tokenFile];
  const [program = "", ...args] = [...changeUser(user), ...check];
  const problem = await new Promise<string>((resolve) => {
    let said = "";
    const env = { PATH: ownPath() };
    const child = spawn(program, args, { cwd: "/", env, stdio: ["ignore", "pipe", "ignore"] });
    child.on("error", ({ message }) => resolve(`${program} cannot be started (${message}): install util-linux`));
    child.stdout?.on("data", (data: Buffer) => (said += data.toString()));
    child.on("close", (code) => {
      if (code === 0) resolve(said === "" ? "" : `the user ${said.trim()}`);
      else
        resolve(
          "the agent may not start processes of this user: run the agent as root, or with the ambient capabilities CAP_SETUID, CAP_SETGID, CAP_CHOWN, CAP_KILL, CAP_FOWNER and CAP_DAC_OVERRIDE",
        );
    });
  });
  if (problem !== "") throw unusable(name, problem);
}

/** The beginning of a command that runs as the user, with the user's own group alone. */
export function changeUser({ uid, gid }: Owner): readonly string[] {
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"];
}

/** Gives a file or folder that the agent has just made to the user of steps. No effect without one. */
export function giveTo(owner: Owner | undefined, path: string): void {
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}

/**
 * The user to whom the content of a workspace belongs; undefined when that is the agent's own. The agent reads nothing
 * else from such a workspace: a link, also one that appears in the middle of a look-up, may lead to the agent's own files.
 */
export function ownerOf(workspace: string): Owner | undefined {
  const { uid, gid } = lstatSync(workspace);
  return uid === process.geteuid!() ? undefined : { uid, gid };
}

async function output(program: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args)).stdout.trim();
}

function unusable(name: string, why: string): MillraceError {
  return new MillraceError("malformed_request", `steps cannot run as ${JSON.stringify(name)}: ${why}`);
}
