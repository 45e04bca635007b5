/** Process groups that are killed when this process exits, in every way except by SIGKILL. */

const leaders = new Set<number>();

/** Kills the process group of `leader` when this process exits. Answers the function that cancels this. */
export function killAtExit(leader: number): () => void {
  if (leaders.size === 0) process.on("exit", killAll);
  leaders.add(leader);
  return () => {
    leaders.delete(leader);
    if (leaders.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const leader of leaders) killGroup(leader, "SIGKILL");
}

/** Sends a signal to a process group. A group that has ended is not an error. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
