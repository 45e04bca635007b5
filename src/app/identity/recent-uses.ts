/** Notes when tokens and sessions were last used: at most once a minute each, and never on the path of a call. */

const NOTED_EVERY_MS = 60_000;

/** What is being written, by store: a second call must not write the same use again. */
const writing = new WeakMap<object, Set<string>>();

export interface Use {
  readonly id: string;
  /** As it was read with the call; absent before the first use. */
  readonly lastUsedAt?: number | undefined;
  readonly at: number;
}

/** Begins `write` unless the last use was noted less than a minute ago. A use that cannot be stored is left out. */
export function noteUse(store: object, { id, lastUsedAt, at }: Use, write: () => Promise<void>): void {
  if (lastUsedAt !== undefined && at - lastUsedAt < NOTED_EVERY_MS) return;
  const inHand = writing.get(store) ?? new Set();
  writing.set(store, inHand);
  if (inHand.has(id)) return;
  inHand.add(id);
  write()
    .catch(() => {})
    .finally(() => inHand.delete(id));
}
