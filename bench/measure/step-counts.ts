/** Each step once: what every system has to keep to, however fast it is. */

/** How often each step ran, by its id. */
export type StepCounts = ReadonlyMap<string, number>;

const SHOWN_IDS = 10;

/**
 * Throws with the ids of steps that were lost, ran more than once, or that nobody asked for. `fault`: what is known to
 * have gone wrong already.
 */
export function expectOnce(wanted: Iterable<string>, counts: StepCounts, fault?: unknown): void {
  const unasked = new Map(counts);
  const lost: string[] = [];
  for (const id of wanted) if (!unasked.delete(id)) lost.push(id);
  const doubled = [...counts].filter(([, times]) => times > 1).map(([id]) => id);
  const faults = [say("lost", lost), say("ran more than once", doubled), say("not asked for", [...unasked.keys()])];
  const text = faults.filter((fault) => fault !== "").join("; ");
  if (text === "") return;
  throw new Error(fault === undefined ? `of the steps ${text}` : `${reasonOf(fault)}; of the steps ${text}`);
}

function reasonOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

function say(what: string, ids: readonly string[]): string {
  if (ids.length === 0) return "";
  return `${ids.length} ${what}: ${ids.slice(0, SHOWN_IDS).join(", ")}${ids.length > SHOWN_IDS ? ", ..." : ""}`;
}
