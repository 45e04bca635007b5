/**
 * The number of shards of an installation, which the store keeps. The shard of a run is a hash modulo this number: with
 * another number, runs would wait in mailboxes that no worker reads.
 */
import { MillraceError } from "../domain/errors.ts";
import type { ShardStore } from "../stores/ports/shards.ts";

type Settings = Pick<ShardStore, "fixSetting" | "readSetting">;

/** The name of the stored setting, which is also the name of the variable. */
export const SHARD_NUMBER = "MAILBOX_SHARDS";
/** The number of a new installation whose configuration names none. */
const NEW_INSTALLATION = 64;

/** A change of the number that has begun and not ended. */
export interface ShardChange {
  readonly from: number;
  readonly to: number;
}

/**
 * The stored value during a change. It is no number, so nodes of every release refuse to start with it.
 */
export function changeText({ from, to }: ShardChange): string {
  return `${from} to ${to}`;
}

/** The change that a stored value stands for; null for a number. */
export function changeIn(stored: string): ShardChange | null {
  const [, from, to] = /^(\d+) to (\d+)$/.exec(stored) ?? [];
  return from === undefined ? null : { from: Number(from), to: Number(to) };
}

/**
 * The number of the installation. A new installation takes `configured`, or 64 when it is null. Rejects with `conflict`
 * when `configured` differs from the number of the installation, and while the number is being changed.
 */
export async function agreeOnShards(store: Settings, configured: number | null): Promise<number> {
  const stored = await store.fixSetting(SHARD_NUMBER, String(configured ?? NEW_INSTALLATION));
  refuseChange(stored);
  if (configured !== null && stored !== String(configured)) {
    throw new MillraceError(
      "conflict",
      `${SHARD_NUMBER} is ${configured}, but this deployment has ${stored} shards: remove the setting or set it to ` +
        `${stored}, or change the number with "millrace shards set ${configured}" while no node runs`,
    );
  }
  return Number(stored);
}

/**
 * For a node that has announced itself: the process that changes the number looks for announced nodes after it has stored the
 * change. So either the node finds the change here, or the change finds the node. Rejects with `conflict`.
 */
export async function confirmShards(store: Settings, shards: number): Promise<void> {
  const stored = await store.readSetting(SHARD_NUMBER);
  if (stored === String(shards)) return;
  refuseChange(stored ?? "");
  throw new MillraceError("conflict", `the number of shards was changed to ${stored} meanwhile: start the node again`);
}

function refuseChange(stored: string): void {
  const change = changeIn(stored);
  if (change === null) return;
  throw new MillraceError(
    "conflict",
    `the number of shards is being changed from ${change.from} to ${change.to}, and no node may run before that is ` +
      `done: if the command was cut off, repeat "millrace shards set ${change.to}"`,
  );
}
