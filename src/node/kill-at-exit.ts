/** Process groups that must not outlive this process, however it exits (save by SIGKILL). */

const leaders = new Set<number>();

/** Kills the group that `leader` leads when this process exits; the answer takes that back. */
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

/** Sends a signal to the group; a group that is gone is no error. */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
