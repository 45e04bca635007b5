/**
 * Commands to an aggregate: a command that is stored in its inbox will be decided, and the verdict is read from there.
 */
import { type RecordedChange, recorded, type Trail } from "../../audit/trail.ts";
import type { CommandBody } from "../../domain/commands.ts";
import type { Verdict } from "../../domain/effects.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { CommandId, RootId } from "../../domain/ids.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { commandChannel } from "../../feed/feed.ts";
import type { AppContext, WithStores } from "../context.ts";
import { Signal } from "../signal.ts";

const VERDICT_WAIT_MS = 5_000;
const VERDICT_POLL_MS = 200;

/** What {@link storeCommand} works with. */
export type StoringContext = Pick<AppContext, "clock" | "mailboxes" | "shards" | "log"> & WithStores<"inbox">;

/** What {@link storeAndWait} works with. */
type WaitingContext = StoringContext & Pick<AppContext, "feed">;

export interface NewCommand {
  readonly id: CommandId;
  readonly rootId: RootId;
  readonly body: CommandBody;
  /** Who orders it, and what the audit log says of it. Absent for a command of this program. */
  readonly order?: { readonly by: { readonly trail?: Trail | undefined }; readonly change: RecordedChange };
}

/**
 * Stores a command, with its entry in the audit log, and wakes the owner of its aggregate. A repeat with the same id changes
 * nothing.
 */
export async function storeCommand(context: StoringContext, { id, rootId, body, order }: NewCommand): Promise<void> {
  const shard = shardOf(rootId, context.shards);
  const insert = () => context.stores.inbox.insert({ ...body, id, rootId, shard, storedAt: context.clock.now() });
  await (order === undefined ? insert() : recorded(order.by, order.change, insert));
  ringDoorbell(context, rootId);
}

/**
 * Sends the owner of an aggregate a message without content, so that the owner reads the inbox of the aggregate now.
 * Returns at once. A doorbell that is lost delays the command by about a second: the owner's next sweep reads the
 * store.
 */
export function ringDoorbell(context: Pick<AppContext, "mailboxes" | "log">, rootId: RootId): void {
  context.mailboxes.send({ rootId, to: null, message: null }).catch((error: unknown) => {
    context.log.debug(
      { rootId, error: String(error) },
      "the doorbell could not be rung; the next sweep finds the command",
    );
  });
}

/** Stores a command and waits for its verdict. Null when there is no verdict within 5 s; the command stays stored. */
export async function storeAndWait(context: WaitingContext, command: NewCommand): Promise<Verdict | null> {
  const published = new Signal();
  // Without the feed the verdict is found by polling the store.
  const unsubscribe = await context.feed
    .subscribe(commandChannel(command.id), () => published.raise())
    .catch(() => undefined);
  try {
    await storeCommand(context, command);
    const deadline = context.clock.monotonic() + VERDICT_WAIT_MS;
    for (;;) {
      const verdict = (await context.stores.inbox.verdict(command.id)) ?? null;
      if (verdict !== null || context.clock.monotonic() >= deadline) return verdict;
      await published.wait(VERDICT_POLL_MS);
    }
  } finally {
    await unsubscribe?.().catch(() => {});
  }
}

/**
 * The verdict on a command. `known`: the verdict on the same command of an earlier call, null when the actor had not
 * decided it, and undefined when no earlier call stored the command. Throws `unavailable` when there is no verdict
 * within 5 s; the command stays stored.
 */
export async function verdictOn(
  context: WaitingContext,
  command: NewCommand,
  known: Verdict | null | undefined,
): Promise<Verdict> {
  const verdict = known ?? (await storeAndWait(context, command));
  if (verdict !== null) return verdict;
  throw new MillraceError(
    "unavailable",
    `no worker has answered the ${command.body.kind} within 5 s, but it is stored: repeat it with the same requestId, or read the run`,
  );
}
