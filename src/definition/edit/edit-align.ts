/** Matches the items of a list with the items of an older list that they come from. */
import { isSameValue } from "./same-value.ts";

/**
 * For each item of `next`, the index in `old` of the item that it comes from; undefined for a new item. Each old item is used at
 * most once. An item comes from an equal one, else from one with the same `name` or `id`, else from the one at its place if both
 * are similar. The time grows linearly with the size of the lists.
 */
export function alignLists(old: readonly unknown[], next: readonly unknown[]): readonly (number | undefined)[] {
  const oldKeys = old.map(canonical);
  const nextKeys = next.map(canonical);
  const origins: (number | undefined)[] = next.map(() => undefined);
  const isFree = old.map(() => true);
  const pair = (to: number, from: number): void => {
    origins[to] = from;
    isFree[from] = false;
  };

  // Equal items at the beginning and the end of both lists are matched first, so that they stay where they are.
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  for (; head < shorter && oldKeys[head] === nextKeys[head]; head++) pair(head, head);
  for (let tail = 1; tail <= shorter - head && oldKeys.at(-tail) === nextKeys.at(-tail); tail++) {
    pair(next.length - tail, old.length - tail);
  }
  const pairBy = (keyOfOld: (index: number) => string | undefined, keyOfNext: typeof keyOfOld): void => {
    const places = new Map<string, number[]>();
    for (let from = old.length - 1; from >= 0; from--) {
      const key = isFree[from] === true ? keyOfOld(from) : undefined;
      if (key === undefined) continue;
      const same = places.get(key);
      if (same === undefined) places.set(key, [from]);
      else same.push(from);
    }
    for (let to = 0; to < next.length; to++) {
      const key = origins[to] === undefined ? keyOfNext(to) : undefined;
      const from = key === undefined ? undefined : places.get(key)?.pop();
      if (from !== undefined) pair(to, from);
    }
  };
  pairBy(
    (from) => oldKeys[from],
    (to) => nextKeys[to],
  );
  pairBy(
    (from) => identity(old[from]),
    (to) => identity(next[to]),
  );
  let from = 0;
  for (let to = 0; to < next.length; to++) {
    if (origins[to] === undefined && isFree[from] === true && areSimilar(old[from], next[to])) pair(to, from);
    from = (origins[to] ?? from - 1) + 1;
  }
  return origins;
}

/** A text that is the same for equal values, in whatever order their keys are. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isRecord(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
  }
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

function identity(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const name = value["name"] ?? value["id"];
  return typeof name === "object" || name === undefined ? undefined : JSON.stringify([typeof name, name]);
}

/** Whether `next` may be `old` after a change: maps with different names are similar when at least half of the other fields are equal. */
function areSimilar(old: unknown, next: unknown): boolean {
  if (Array.isArray(old) || Array.isArray(next)) return Array.isArray(old) && Array.isArray(next);
  if (!isRecord(old) || !isRecord(next)) return isRecord(old) === isRecord(next);
  if (identity(old) === undefined && identity(next) === undefined) return true;
  const fields = Object.keys(old).filter((key) => key !== "name" && key !== "id");
  const same = fields.filter((key) => Object.hasOwn(next, key) && isSameValue(old[key], next[key]));
  return same.length * 2 >= fields.length;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
