/** Signals to processes and to whole process groups. */

/**
 * Sends a signal to every process of the group. No effect when the group has ended, or its id belongs to another user
 * now.
 */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // ESRCH: the group has ended. EPERM: the id belongs to another user now.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** Sends a signal to a process, or to a group by its negative id. False when there is none, or when it is another user's. */
export function sendSignal(id: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(id, signal);
    return true;
  } catch {
    return false;
  }
}
