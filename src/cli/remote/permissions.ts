/** What a caller may do, for people: the operations of the API, grouped by their verbs and wrapped. */

/** The word before a group, by the verb with which the names of its operations begin. */
const GROUPS = {
  read: "reads",
  write: "writes",
  create: "creates",
  manage: "manages",
  delete: "deletes",
} as const;
const LABEL_WIDTH = 9;
/** Longer lines are hard to read, also on a wide terminal. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 40;

/**
 * Lines such as `reads    agents, approvals`, one group after the other; `also` has the operations of all other verbs. `columns`
 * is the width of the terminal; absent where there is none.
 */
export function permissionLines(operations: readonly string[], columns = MAX_WIDTH): readonly string[] {
  const groups = new Map<string, string[]>([...Object.values(GROUPS), "also"].map((label) => [label, []]));
  for (const operation of operations) {
    const [verb = "", ...words] = operation.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(" ");
    const label = Object.hasOwn(GROUPS, verb) ? GROUPS[verb as keyof typeof GROUPS] : "also";
    groups.get(label)!.push((label === "also" ? [verb, ...words] : words).join(" "));
  }
  const room = Math.max(Math.min(columns, MAX_WIDTH), MIN_WIDTH) - LABEL_WIDTH;
  const filled = [...groups].filter(([, items]) => items.length > 0);
  if (filled.length === 0) return [`${"may".padEnd(LABEL_WIDTH)}nothing`];
  return filled.flatMap(([label, items]) =>
    wrapped(items.toSorted(), room).map((line, at) => `${(at === 0 ? label : "").padEnd(LABEL_WIDTH)}${line}`),
  );
}

/** The items with commas between them; no item is cut. */
function wrapped(items: readonly string[], room: number): readonly string[] {
  const lines: string[] = [];
  for (const [at, item] of items.entries()) {
    const text = at === items.length - 1 ? item : `${item},`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= room) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}
