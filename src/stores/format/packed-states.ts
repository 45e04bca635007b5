/** States of actors in the embedded store, where each is a row: those that no longer change are packed. */
import type { StoredActor } from "../ports/aggregates.ts";
import { packText, unpackText } from "./packed-text.ts";

/** Jobs of a large run stay as they are: its pages read fields of each job, within the store. */
const FEW = 16;

interface Ended {
  readonly endedAt?: number | null;
  readonly deployment?: unknown;
}

/** The ids in the row of an actor, which its packed state leaves out. */
interface RowIds {
  readonly rootId: string;
  readonly id: string;
  readonly jobId: string | null;
}

/** What is stored as the state of an actor, in a save of `changed` actors after which the run `isFinal`. */
export function storedState(
  { kind, id, state, index }: StoredActor,
  save: { readonly rootId: string; readonly isFinal: boolean; readonly changed: number; readonly packs: boolean },
): string | Uint8Array {
  const json = JSON.stringify(state);
  const { endedAt = null, deployment } = state as Ended;
  if (!save.packs || endedAt === null) return json;
  // Lists of deployments read fields of the state.
  const isRead = deployment !== undefined || index.deployment !== undefined || save.changed > FEW;
  const isPacked = kind === "step" || (save.isFinal && (kind === "run" || (kind === "job" && !isRead)));
  return isPacked ? packText(json, knownOf({ rootId: save.rootId, id, jobId: index.jobId })) : json;
}

/** The reverse of {@link storedState}: JSON of the state. */
export function stateText(stored: string | Uint8Array, ids: RowIds): string {
  return typeof stored === "string" ? stored : unpackText(stored, knownOf(ids));
}

/** The id of the run's own row is the first one, too. */
function knownOf({ rootId, id, jobId }: RowIds): readonly string[] {
  return [rootId, id, jobId ?? ""];
}
