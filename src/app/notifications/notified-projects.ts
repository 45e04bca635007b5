/** Marks projects whose runs may have notifications or commit statuses, so that the others cost nothing. */
import { MillraceError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ProjectId, UserId } from "../../domain/ids.ts";
import type { DocumentStore } from "../../stores/ports/documents.ts";
import type { WithStores } from "../context.ts";

/** Projects that this process knows to be marked. By store, so that each node of a test has its own. */
const known = new WeakMap<DocumentStore, Set<ProjectId>>();
const MAX_KNOWN = 10_000;
/** How often a user is added again when others add themselves at the same moment. */
const TRIES = 50;

type MarkContext = { readonly clock: Pick<Clock, "now"> } & WithStores<"documents">;

/** Called before a run is stored that may have some. The mark stays as long as its project. */
export async function markNotified({ stores: { documents }, clock }: MarkContext, projectId: ProjectId): Promise<void> {
  const marked = known.get(documents) ?? new Set<ProjectId>();
  known.set(documents, marked);
  if (marked.has(projectId)) return;
  const owner = `project/${projectId}` as const;
  await documents.save({ kind: "notified", owner, version: 1, body: { since: clock.now() } });
  if (marked.size >= MAX_KNOWN) marked.clear();
  marked.add(projectId);
}

/**
 * Called before a choice of the user for the project is stored. The user stays on the mark: the choices decide what is told.
 * Throws `unavailable` when others change the mark all the time.
 */
export async function markChosen(
  { stores: { documents }, clock }: MarkContext,
  projectId: ProjectId,
  userId: UserId,
): Promise<void> {
  const owner = `project/${projectId}` as const;
  for (let tries = 0; tries < TRIES; tries++) {
    const [found] = await documents.find("notified", [owner]);
    const { since, users = [] } = found?.body ?? { since: clock.now() };
    if (users.includes(userId)) return;
    const body = { since, users: [...users, userId] };
    if (await documents.save({ kind: "notified", owner, version: (found?.version ?? 0) + 1, body })) return;
  }
  throw new MillraceError("unavailable", "others choose for this project all the time: try again");
}
