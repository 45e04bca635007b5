/** The query of deletions that may be forced. */
import { z } from "zod";

export const forceQuery = z.strictObject({
  /** True: what is live in the object is stopped, and does not prevent the deletion. */
  force: z
    .enum(["true", "false"])
    .default("false")
    .transform((word) => word === "true"),
});
