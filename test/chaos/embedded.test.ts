import { SHORT_EMBEDDED } from "./scenarios.ts";
import { shortKillTest } from "./short-form.ts";

/** Played beside the load: without a token, as a viewer, and as an author of definitions. */
const ATTACKS = "unknown-keys,long-queries,delete-and-trigger";

describe("a short kill test of an embedded installation", () => {
  shortKillTest(SHORT_EMBEDDED, ATTACKS);
});
