import { expect } from "chai";
import { RunView } from "../../src/cli/run-view.ts";
import { Screen } from "../../src/cli/screen.ts";
import { runDetailOf } from "../support/run-details.ts";

function plainView() {
  const lines: string[] = [];
  const screen = new Screen({ write: (text: string) => lines.push(...text.split("\n").slice(0, -1)) }, {});
  return { lines, view: new RunView(screen, { name: "hello" }) };
}

describe("the view of a run without a terminal", () => {
  it("prints each change once, and no waits", () => {
    const { lines, view } = plainView();
    const waiting = { status: "pending", startTime: null } as const;
    view.update(
      runDetailOf({}, [
        { name: "compile", steps: [{ name: "copy" }] },
        { name: "later", ...waiting },
      ]),
    );
    view.update(
      runDetailOf({}, [
        { name: "compile", steps: [{ name: "copy" }] },
        { name: "later", ...waiting },
      ]),
    );
    view.update(
      runDetailOf({}, [{ name: "compile", steps: [{ name: "copy", status: "failed", reason: "exit code 2" }] }]),
    );
    expect(lines).to.deep.equal([
      "● build/compile/copy  running  250ms",
      "● build/compile  running  500ms",
      "● hello  running  1.0s",
      "✘ build/compile/copy  failed  250ms  exit code 2",
    ]);
  });

  it("prefixes log lines with their step and strips control characters", () => {
    const { lines, view } = plainView();
    const job = runDetailOf({}, [{ name: "compile", steps: [{ name: "copy" }] }]).jobs[0]!;
    view.log(job, job.steps[0]!, { line_number: 1, content: "\u001b[31mred\u001b[0m\u0007", stream: "stdout" });
    expect(lines).to.deep.equal(["build/compile/copy | red"]);
  });

  it("shows the last text of a line that a progress bar has begun again", () => {
    const { lines, view } = plainView();
    const job = runDetailOf({}, [{ name: "compile", steps: [{ name: "copy" }] }]).jobs[0]!;
    for (const [at, content] of ["10 %\r50 %\r100 %", "90 %\r100 %\r", "\r", ""].entries()) {
      view.log(job, job.steps[0]!, { line_number: at + 1, content, stream: "stdout" });
    }
    expect(lines.map((line) => line.replace("build/compile/copy |", ""))).to.deep.equal([" 100 %", " 100 %", " ", " "]);
  });
});
