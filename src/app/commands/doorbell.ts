/** Tells the owner of an aggregate to look at what the store holds for it. */
import type { RootId } from "../../domain/ids.ts";
import type { AppContext } from "../context.ts";

/** Returns at once: a bell that nobody hears costs about a second, since the owner's sweep reads the store. */
export function ringDoorbell(context: Pick<AppContext, "mailboxes" | "log">, rootId: RootId): void {
  context.mailboxes.send({ rootId, to: null, message: null }).catch((error: unknown) => {
    context.log.debug({ rootId, error: String(error) }, "the doorbell could not be rung");
  });
}
