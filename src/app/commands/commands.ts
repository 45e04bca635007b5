/** Commands to an aggregate: stored in its inbox, which is the promise, and the verdicts that it gives. */
import type { CommandBody } from "../../domain/commands.ts";
import type { Verdict } from "../../domain/effects.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { CommandId, RootId } from "../../domain/ids.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { commandChannel } from "../../feed/feed.ts";
import type { AppContext, WithStores } from "../context.ts";
import { ringDoorbell } from "./doorbell.ts";
import { Signal } from "../signal.ts";

const VERDICT_WAIT_MS = 5_000;
const VERDICT_POLL_MS = 200;

/** What it takes to say something to an aggregate. */
export type CommandPorts = Pick<AppContext, "clock" | "mailboxes" | "shards" | "log"> & WithStores<"inbox">;

/** What it takes to store a command and to wait for its verdict. */
type AwaitingPorts = CommandPorts & Pick<AppContext, "feed">;

export interface NewCommand {
  readonly id: CommandId;
  readonly rootId: RootId;
  readonly body: CommandBody;
}

/** A repeat of the id changes nothing. */
export async function storeCommand(context: CommandPorts, { id, rootId, body }: NewCommand): Promise<void> {
  const shard = shardOf(rootId, context.shards);
  await context.stores.inbox.insert({ ...body, id, rootId, shard, storedAt: context.clock.now() });
  ringDoorbell(context, rootId);
}

/** Stores it and waits for the verdict: null when there is none within 5 s. */
export async function storeAndWait(context: AwaitingPorts, command: NewCommand): Promise<Verdict | null> {
  const told = new Signal();
  // Without the feed the verdict is found by reading alone.
  const unsubscribe = await context.feed
    .subscribe(commandChannel(command.id), () => told.raise())
    .catch(() => undefined);
  try {
    await storeCommand(context, command);
    const deadline = context.clock.monotonic() + VERDICT_WAIT_MS;
    for (;;) {
      const verdict = (await context.stores.inbox.verdict(command.id)) ?? null;
      if (verdict !== null || context.clock.monotonic() >= deadline) return verdict;
      await told.wait(VERDICT_POLL_MS);
    }
  } finally {
    await unsubscribe?.().catch(() => {});
  }
}

/**
 * The verdict on a command: `known` for one that an earlier call stored, null while that one is undecided. Throws `unavailable`
 * when there is none within 5 s; the command stays stored.
 */
export async function verdictOn(
  context: AwaitingPorts,
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
