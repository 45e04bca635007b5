/** One look of retention at what is of no single run: request ids, groups that nobody is in, dead letters and the like. */
import type { RootId, RunId } from "../../domain/ids.ts";
import type { UpkeepContext } from "./context.ts";
import { finishRemoval } from "../runs/remove-run.ts";

const AT_ONCE = 200;
const GROUPS_AT_ONCE = 50;
const MAX_DEAD_LETTERS = 10_000;
/** A command waits for a run that is not there at most while somebody who has found that run goes on to store it. */
const STRAY_MS = 600_000;
const BEFORE_RUNS = "run_";

/** Removals that were cut off. Yields after each piece of work. */
export async function* finishRemovals(context: UpkeepContext): AsyncGenerator<void, void, void> {
  for (const removal of await context.stores.removals.unfinished(AT_ONCE)) {
    await finishRemoval(context, removal);
    yield;
  }
}

/** What is older than `keptMs`. */
export async function* pruneRecords(context: UpkeepContext, keptMs: number): AsyncGenerator<void, void, void> {
  const { clock, stores } = context;
  const before = clock.now() - keptMs;
  const forgetting = [
    () => stores.idempotency.forget(before, AT_ONCE),
    // After the request ids, so that none is left that would bring a run back.
    () => stores.removals.forget(before, AT_ONCE),
    () => stores.deadLetters.forget({ before, most: MAX_DEAD_LETTERS, limit: AT_ONCE }),
  ];
  for (const forget of forgetting) {
    do yield;
    while ((await forget()) >= AT_ONCE);
  }
  await stores.identity.forgetExpired(before);
  for (let at = await stores.agentEvents.nextAgent(""); at !== undefined; at = await stores.agentEvents.nextAgent(at)) {
    await stores.agentEvents.forget(at, before);
    yield;
  }
  yield* pruneGroups(context, before);
}

/**
 * A member enters and leaves once each, so its commands come again only while the run that owes them has not been saved
 * since: those of a day ago are repeats of nobody. A group without a command has been idle for as long.
 */
async function* pruneGroups({ stores }: UpkeepContext, before: number): AsyncGenerator<void, void, void> {
  for (let after = ""; ;) {
    const page = await stores.retention.pageGroups(after, GROUPS_AT_ONCE);
    await Promise.all(
      page.map(async (group) => {
        await stores.inbox.forgetAnswered(group.groupId, before);
        if (group.isIdle) await stores.retention.removeGroup(group);
      }),
    );
    yield;
    if (page.length < GROUPS_AT_ONCE) return;
    after = page.at(-1)!.groupId;
  }
}

/** Commands to runs that were removed: nobody answers them, and the owner of the shard would look at them for ever. */
export async function* pruneStrayCommands(context: UpkeepContext, shard: number): AsyncGenerator<void, void, void> {
  const { clock, stores } = context;
  for (let after = BEFORE_RUNS; ;) {
    const page: readonly RootId[] = await stores.inbox.pageRoots(shard, after, AT_ONCE);
    for (const runId of page.filter((rootId): rootId is RunId => rootId.startsWith(BEFORE_RUNS))) {
      if ((await stores.aggregates.loadHead(runId)) !== undefined) continue;
      const commands = await stores.inbox.pending(runId);
      if (commands.some(({ storedAt }) => storedAt > clock.now() - STRAY_MS)) continue;
      await stores.removeRun({ runId, jobIds: [], stepRunIds: [], approvalIds: [] });
      yield;
    }
    if (page.length < AT_ONCE) return;
    after = page.at(-1)!;
  }
}
