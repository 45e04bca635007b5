/** Messages that could not be decided are kept as dead letters, for an operator to look at and to send again. */
import { createHash } from "node:crypto";
import type { RootId } from "../../src/domain/ids.ts";
import type { KernelContext } from "./kernel-context.ts";
import type { UndecidedMessage } from "./turn.ts";

/** A repeat of a message is kept once, with the newest reason. */
export async function storeDeadLetters(
  { counters, log, stores }: Pick<KernelContext, "counters" | "log" | "stores">,
  { rootId, shard }: { readonly rootId: RootId; readonly shard: number },
  undecided: readonly UndecidedMessage[],
  at: number,
): Promise<void> {
  for (const { message, reason } of undecided) {
    const id = createHash("sha256")
      .update(`${rootId}${JSON.stringify(message)}`)
      .digest("hex");
    await stores.deadLetters.insert({ id, shard, rootId, letter: message, reason, at });
    counters.deadLetters++;
    log.error({ runId: rootId, to: message.to, reason }, "a message could not be decided: dead letter");
  }
}
