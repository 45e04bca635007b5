/** Places in lists of runs, as conditions of queries. */
import type { Document } from "mongodb";
import type { ListKey } from "../../ports/pages.ts";
import { behindPlace } from "../pages.ts";

/** What stands behind a place. */
export function behind({ at, id }: ListKey, descending: boolean): Document {
  const direction = descending ? -1 : 1;
  return behindPlace(
    [
      ["summary.createdAt", direction],
      ["_id", direction],
    ],
    [at, id],
  );
}
