/** Parts of the answers of several hosts. */
import { z } from "zod";

/** The address of a page, which people follow. */
export const webAddress = z.url({ protocol: /^https?$/ }).max(2_000);

/** The id of a commit, or its beginning. */
export const commitId = z.string().regex(/^[\da-f]{12,64}$/i);

/** The permission of a collaborator, as GitHub, Gitea and Forgejo name it. */
export const writePermission = z
  .object({ permission: z.string() })
  .transform(({ permission }) => ["owner", "admin", "write"].includes(permission));
