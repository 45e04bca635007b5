/** The store of verification that answers everything in the newest shape; see versioned-stores.ts. */
import type { AggregateHead, StoredActor } from "../ports/aggregates.ts";
import type { RootId } from "../../domain/ids.ts";
import type { InspectionStore } from "../ports/inspection.ts";
import { withDerived } from "./derived-fields.ts";
import { fromStored, refuseNewer, type StoredFormat } from "./stored-format.ts";
import type { StoredState } from "./stored-parts.ts";

/** `read` rejects with a `NewerSchemaError` for an aggregate that a newer version has stored. */
export function versionedInspection(store: InspectionStore, format: StoredFormat): InspectionStore {
  const upgraded = (actor: StoredActor): StoredActor => {
    const what = `the ${actor.kind} ${actor.id}`;
    return { ...actor, state: fromStored(format, actor.kind, actor.state as StoredState, what) };
  };
  const upgradedHead = (head: AggregateHead<RootId>): AggregateHead<RootId> => {
    const what = `the aggregate ${head.rootId}`;
    refuseNewer(what, head.schema, format);
    return {
      ...head,
      owed: format.read("owed", head.owed, head.schema),
      origin: fromStored(format, "origin", head.origin, what),
    };
  };
  return {
    setting: (name) => store.setting(name),
    pageRoots: (after, limit) => store.pageRoots(after, limit),
    async read(rootId) {
      const found = await store.read(rootId);
      return (
        found && {
          ...found,
          head: upgradedHead(found.head),
          actors: withDerived(found.actors.map(upgraded)),
          rows: found.rows.map((row) => ({ ...row, actor: upgraded(row.actor) })),
        }
      );
    },
    eventNumbers: (runId, after, limit) => store.eventNumbers(runId, after, limit),
    pageOwners: (kind, after, limit) => store.pageOwners(kind, after, limit),
    missingOwners: (owners) => store.missingOwners(owners),
  };
}
