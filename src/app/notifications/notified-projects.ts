/** Marks projects whose runs may have notifications or commit statuses, so that the others cost nothing. */
import type { Clock } from "../../domain/clock.ts";
import type { ProjectId } from "../../domain/ids.ts";
import type { DocumentStore } from "../../stores/ports/documents.ts";
import type { WithStores } from "../context.ts";

/** Projects that this process knows to be marked. By store, so that each node of a test has its own. */
const known = new WeakMap<DocumentStore, Set<ProjectId>>();
const MAX_KNOWN = 10_000;

/** Called before a run is stored that may have some. The mark stays as long as its project. */
export async function markNotified(
  { stores: { documents }, clock }: { readonly clock: Pick<Clock, "now"> } & WithStores<"documents">,
  projectId: ProjectId,
): Promise<void> {
  const marked = known.get(documents) ?? new Set<ProjectId>();
  known.set(documents, marked);
  if (marked.has(projectId)) return;
  const owner = `project/${projectId}` as const;
  await documents.save({ kind: "notified", owner, version: 1, body: { since: clock.now() } });
  if (marked.size >= MAX_KNOWN) marked.clear();
  marked.add(projectId);
}
