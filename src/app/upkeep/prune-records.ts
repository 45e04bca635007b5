/**
 * One pass of the retention pruner over what belongs to no single run: request ids, empty groups, dead letters and
 * others.
 */
import type { RootId, RunId } from "../../domain/ids.ts";
import type { UpkeepContext } from "./context.ts";
import { OPEN_AFTER_EXPIRY_SECONDS } from "../identity/access-tokens.ts";
import { finishRemoval } from "../runs/remove-run.ts";

/** Records of one call to the store. */
const BATCH_SIZE = 200;
const GROUP_BATCH_SIZE = 50;
/** Messages that the store keeps as dead letters, at most; with more, the oldest are deleted early. */
const MAX_DEAD_MESSAGES = 10_000;
/**
 * Younger commands to a removed run are kept: a call that found the run just before its removal may still be storing
 * one.
 */
const STRAY_COMMAND_MS = 600_000;
/** No timer is due at this time, Unix milliseconds. */
const NEVER_DUE = Number.MIN_SAFE_INTEGER;
/** Ids of runs begin with this; pages of roots are ordered by id. */
const RUN_PREFIX = "run_";

/** Finishes removals of runs that were cut off. Yields after each piece of work. */
export async function* finishRemovals(context: UpkeepContext): AsyncGenerator<void, void, void> {
  for (const removal of await context.stores.removals.unfinished(BATCH_SIZE)) {
    await finishRemoval(context, removal);
    yield;
  }
}

/** Puts events into the logs of system events that a crash has left owed. Yields after each piece of work. */
export async function* settleSystemEvents({ stores }: UpkeepContext): AsyncGenerator<void, void, void> {
  while ((await stores.audit.settleEvents(BATCH_SIZE)) >= BATCH_SIZE) yield;
}

/**
 * Deletes records that are older than `keptMs`, and entries of the audit log and system events that are older than `auditMs`.
 * Yields after each piece of work.
 */
export async function* pruneRecords(
  context: UpkeepContext,
  keptMs: number,
  auditMs: number,
): AsyncGenerator<void, void, void> {
  const { clock, stores } = context;
  const before = clock.now() - keptMs;
  const forgetting = [
    () => stores.idempotency.forget(before, BATCH_SIZE),
    // After the request ids: a repeat of a request id must still find that its run was removed.
    () => stores.removals.forget(before, BATCH_SIZE),
    () => stores.logins.forgetSessions(clock.now() - OPEN_AFTER_EXPIRY_SECONDS * 1_000, BATCH_SIZE),
    () => stores.logins.forgetVouchers(clock.now(), BATCH_SIZE),
    () => stores.deadLetters.forget({ before, most: MAX_DEAD_MESSAGES, limit: BATCH_SIZE }),
    () => stores.audit.forget(clock.now() - auditMs, BATCH_SIZE),
  ];
  for (const forget of forgetting) {
    do yield;
    while ((await forget()) >= BATCH_SIZE);
  }
  const { systemEvents } = stores;
  for (let log = await systemEvents.nextLog(""); log !== undefined; log = await systemEvents.nextLog(log)) {
    do yield;
    while ((await systemEvents.forget(log, clock.now() - auditMs, BATCH_SIZE)) >= BATCH_SIZE);
  }
  await stores.identity.forgetExpired(before);
  for (let at = await stores.agentEvents.nextAgent(""); at !== undefined; at = await stores.agentEvents.nextAgent(at)) {
    await stores.agentEvents.forget(at, before);
    yield;
  }
  yield* pruneGroups(context, before);
}

/**
 * Deletes answered commands of groups, and idle groups. A member enters and leaves once each, so its command is
 * repeated only until the run that owes it is saved: a command that is older than `before` is repeated no more. A group
 * without commands has been idle since `before`.
 */
async function* pruneGroups({ stores }: UpkeepContext, before: number): AsyncGenerator<void, void, void> {
  for (let after = ""; ;) {
    const page = await stores.retention.pageGroups(after, GROUP_BATCH_SIZE);
    await Promise.all(
      page.map(async (group) => {
        await stores.inbox.forgetAnswered(group.groupId, before);
        if (group.isIdle) await stores.retention.removeGroup(group);
      }),
    );
    yield;
    if (page.length < GROUP_BATCH_SIZE) return;
    after = page.at(-1)!.groupId;
  }
}

/**
 * Deletes commands to runs that were removed: no actor answers them, and the owner of their shard, which is one of `shards`,
 * would read them with every sweep.
 */
export async function* pruneStrayCommands(
  context: UpkeepContext,
  shards: readonly number[],
): AsyncGenerator<void, void, void> {
  // One question for all shards: most have no command that waits.
  for (const shard of await context.stores.shards.withWork(shards, NEVER_DUE)) yield* pruneOfShard(context, shard);
}

async function* pruneOfShard(context: UpkeepContext, shard: number): AsyncGenerator<void, void, void> {
  const { clock, stores } = context;
  for (let after = RUN_PREFIX; ;) {
    const page: readonly RootId[] = await stores.inbox.pageRoots(shard, after, BATCH_SIZE);
    for (const runId of page.filter((rootId): rootId is RunId => rootId.startsWith(RUN_PREFIX))) {
      if ((await stores.aggregates.loadHead(runId)) !== undefined) continue;
      const commands = await stores.inbox.pending(runId);
      if (commands.some(({ storedAt }) => storedAt > clock.now() - STRAY_COMMAND_MS)) continue;
      await stores.removeRun({ runId, jobIds: [], stepRunIds: [], approvalIds: [] });
      yield;
    }
    if (page.length < BATCH_SIZE) return;
    after = page.at(-1)!;
  }
}
