/** Writes the body of an answer as it comes, at the pace of its reader. */
import { once } from "node:events";
import type { Writable } from "node:stream";

export async function pipeOut({ body }: Response, to: Writable, signal: AbortSignal): Promise<void> {
  for await (const chunk of body ?? []) {
    if (!to.write(chunk)) await once(to, "drain", { signal });
    signal.throwIfAborted();
  }
}
