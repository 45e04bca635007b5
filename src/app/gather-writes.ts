/** Joins the writes of one piece of code. */
import type { Writable } from "node:stream";

/** What is written to the stream before the running code ends leaves together, from this call on. Idempotent until then. */
export function gatherWrites(stream: Pick<Writable, "cork" | "uncork" | "writableCorked">): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
