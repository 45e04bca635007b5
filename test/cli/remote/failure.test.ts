import { expect } from "chai";
import { ApiError } from "../../../clients/typescript/src/errors.ts";
import type { CommandFailure } from "../../../src/cli/command-line.ts";
import { failureOf } from "../../../src/cli/remote/failure.ts";

describe("the failure of a command that calls a server", () => {
  it("shows the change of another user line by line, and nothing that could change the terminal", () => {
    const errors = [
      { code: "other_change", pointer: "", message: "ben: adds\na word" },
      { code: "other_diff", pointer: "/spec", message: "--- a\n+++ b\n@@ -1 +1,2 @@\n jobs: []\n+# \u001b[2Ja word\n" },
    ];
    const body = {
      success: false,
      code: 409,
      reason: "head_moved",
      errMsg: "the head is 1",
      errors,
      path: "/",
      timestamp: 0,
    } as const;
    const error = new ApiError("save", body, { requestId: undefined, retryAfterMs: undefined });
    const { text } = failureOf(error) as CommandFailure;
    expect(text.split("\n").slice(0, 7)).to.deep.equal([
      "error: the head is 1",
      "  ben: adds\\na word",
      "  --- a",
      "  +++ b",
      "  @@ -1 +1,2 @@",
      "   jobs: []",
      "  +# \\u001b[2Ja word",
    ]);
  });
});
