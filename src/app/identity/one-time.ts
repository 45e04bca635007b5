/** What all one-time vouchers share. */
import { createHash } from "node:crypto";

/** What the store keeps of a secret text: the text is random, so a slow hash would add no protection. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
