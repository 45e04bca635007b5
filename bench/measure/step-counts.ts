/** The check that every system must pass, however fast it is: each step ran exactly once. */

/** How often each step ran, by the step's id. */
export type StepCounts = ReadonlyMap<string, number>;

const SHOWN_IDS = 10;

/**
 * Throws an error with the ids of steps that were lost, ran more than once, or were not requested. `fault` is an
 * earlier failure; its message comes first.
 */
export function expectOnce(requested: Iterable<string>, counts: StepCounts, fault?: unknown): void {
  const unrequested = new Map(counts);
  const lost: string[] = [];
  for (const id of requested) if (!unrequested.delete(id)) lost.push(id);
  const doubled = [...counts].filter(([, times]) => times > 1).map(([id]) => id);
  const faults = [say("lost", lost), say("ran more than once", doubled), say("not requested", [...unrequested.keys()])];
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
