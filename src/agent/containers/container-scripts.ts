/** Shell texts that run inside of containers. Their shells are those of the images, so they use what POSIX has. */
import { quote, variablesFor } from "../process/launch-script.ts";

/** What the first process of a container prints when it runs, before its user and group. */
export const READY = "millrace-ready";

/**
 * The first process of a container. It ends when its standard input does, and the kernel ends all other processes of the
 * container with it. While it waits, it collects orphans that have ended. Its `cat` may be killed as all processes of a
 * step are; then it starts another one.
 */
export const FIRST_PROCESS = [
  "uid= gid=",
  "while read -r key value rest; do case $key in Uid:) uid=$value ;; Gid:) gid=$value ;; esac; done </proc/self/status",
  `echo "${READY} $uid $gid"`,
  "exec 3<&0 </dev/null >/dev/null 2>&1",
  "trap : HUP INT QUIT TERM PIPE",
  "while :; do cat <&3 & wait $! && exit; done",
].join("\n");

/** Signals all processes of the container but its first. */
export function signalAll(signal: "TERM" | "KILL"): string {
  return `kill -${signal} -1`;
}

/** Kills all processes of the container but its first, and prints how often its memory was used up. */
export const END_OF_STEP = `
${signalAll("KILL")} 2>/dev/null
cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null
exit 0
`;

/** Exit code of a step whose folder is not there. A program may exit with it as well. */
const NO_FOLDER = 125;

interface ContainedProgram {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of the file for its standard input. */
  readonly stdin: string;
}

/**
 * The line by which a shell that reads its standard input becomes the program of a step. A shell reads a line completely
 * before it runs any of it, so the line can replace the standard input. The variables are in the line, and so in no
 * list of processes and in nothing that an engine stores.
 */
export function becomeProgram({ command, cwd, env, stdin }: ContainedProgram): string {
  const { exported, given } = variablesFor(env);
  const program = [...(given.length > 0 ? ["env", ...given] : []), ...command.map(quote)];
  return [
    ...(exported.length > 0 ? [`export ${exported.join(" ")}`] : []),
    `cd ${quote(cwd)} || exit ${NO_FOLDER}`,
    "unset OLDPWD",
    `exec <${quote(stdin)}`,
    `exec ${program.join(" ")}\n`,
  ].join("; ");
}
