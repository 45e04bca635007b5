/** Which tenants and projects are being deleted: no caller finds them, nor anything that is left in them. */
import type { Clock } from "../domain/clock.ts";
import type { Area } from "../domain/roles.ts";
import type { AreaDeletionStore } from "../stores/ports/deletions.ts";
import { type DocumentOwner, ownerOf } from "../stores/ports/documents.ts";
import type { WithStores } from "./context.ts";

/** How long the answer is remembered: a node may serve a deleted project for this time. */
const REMEMBERED_MS = 2_000;
const PAGE_SIZE = 100;

export type AreasContext = { readonly clock: Pick<Clock, "monotonic"> } & WithStores<"rights">;

interface Known {
  readonly readAt: number;
  readonly areas: ReadonlySet<DocumentOwner>;
}

/** By store, so that each node of a test has its own. */
const memories = new WeakMap<AreaDeletionStore, Known>();

/** The areas of which something may be left, at most 2 s old. Empty nearly always. */
export async function areasBeingDeleted({ clock, stores }: AreasContext): Promise<ReadonlySet<DocumentOwner>> {
  const { deletions } = stores.rights;
  const known = memories.get(deletions);
  if (known !== undefined && clock.monotonic() - known.readAt < REMEMBERED_MS) return known.areas;
  const readAt = clock.monotonic();
  const areas = new Set<DocumentOwner>();
  for (let after: DocumentOwner | "" = ""; ;) {
    const page = await deletions.page(after, PAGE_SIZE);
    for (const { area, emptiedAt } of page) if (emptiedAt === null) areas.add(ownerOf(area));
    if (page.length < PAGE_SIZE) break;
    after = ownerOf(page.at(-1)!.area);
  }
  memories.set(deletions, { readAt, areas });
  return areas;
}

export async function isBeingDeleted(context: AreasContext, area: Area): Promise<boolean> {
  return (await areasBeingDeleted(context)).has(ownerOf(area));
}

/** Makes the next call of {@link areasBeingDeleted} on this node read the store. */
export function forgetAreasBeingDeleted({ stores }: WithStores<"rights">): void {
  memories.delete(stores.rights.deletions);
}
