import { SHORT } from "./scenarios.ts";
import { shortKillTest } from "./short-form.ts";

describe("a short kill test", () => {
  shortKillTest(SHORT, "");
});
