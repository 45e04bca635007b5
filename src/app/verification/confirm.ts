/**
 * Confirms differences by looking again. Beside live nodes, records of one change are seen a moment apart; a difference
 * counts only when two looks in a row show it alike.
 */
import type { Difference } from "./difference.ts";

export interface Suspect {
  readonly differences: readonly Difference[];
  /** Reads the same records again. */
  readonly look: () => Promise<readonly Difference[]>;
}

/** Looks after the first one, at most. What changes with every look is at work. */
const LOOKS = 4;

/** The differences that are confirmed. `pause` waits between two looks. */
export async function confirm(
  suspects: readonly Suspect[],
  pause: () => Promise<void>,
): Promise<readonly Difference[]> {
  const confirmed: Difference[] = [];
  let open = suspects;
  for (let round = 0; round < LOOKS && open.length > 0; round++) {
    await pause();
    const next: Suspect[] = [];
    for (const { differences, look } of open) {
      const before = new Set(differences.map(keyOf));
      const now = await look();
      const same = now.filter((difference) => before.has(keyOf(difference)));
      if (same.length > 0) confirmed.push(...same);
      else if (now.length > 0) next.push({ differences: now, look });
    }
    open = next;
  }
  return confirmed;
}

function keyOf({ kind, object, text }: Difference): string {
  return JSON.stringify([kind, object, text]);
}
