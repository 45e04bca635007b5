/** Signals to whole process groups. */

/** Signals every process of the group; nothing happens when there is none, or it is another user's by now. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // Gone, or another user's by now: neither can be helped from here.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
