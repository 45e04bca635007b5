import { expect } from "chai";
import { fitTree, renderTree } from "../../src/cli/run-tree.ts";
import { runDetailOf } from "../support/run-details.ts";

const texts = (lines: readonly { indent: number; text: string }[]) =>
  lines.map(({ indent, text }) => `${"  ".repeat(indent)}${text}`);

describe("the tree of a run", () => {
  it("shows stages, jobs and steps with status and time", () => {
    const run = runDetailOf({ duration: 3_200 }, [
      {
        name: "compile",
        status: "success",
        duration: 1_250,
        steps: [{ name: "copy", status: "success", duration: 40 }],
      },
      {
        name: "unit",
        stage: "test",
        status: "pending",
        startTime: null,
        waitingFor: { reason: "stage", text: "waits for stage build to end" },
      },
    ]);
    expect(texts(renderTree(run, { name: "hello", steps: "all" }))).to.deep.equal([
      "hello  running  3.2s",
      "  build",
      "    compile  success  1.3s",
      "      copy  success  40ms",
      "  test",
      "    unit  pending  waits for stage build to end",
    ]);
  });

  it("says the place in the queue of a job that waits for an agent, where it is known", () => {
    const wait = { reason: "all_busy", text: "the only matching agent is busy" } as const;
    const rest = { status: "queued", startTime: null } as const;
    const run = runDetailOf({}, [
      { ...rest, waitingFor: { ...wait, ahead: 3 } },
      { ...rest, waitingFor: wait },
    ]);
    const [first, second] = texts(renderTree(run, { name: "p", steps: "all" })).slice(2);
    expect(first).to.equal("    job-0  queued  the only matching agent is busy  (3 ahead in the queue)");
    expect(second).to.equal("    job-1  queued  the only matching agent is busy");
  });

  it("says of a step alone that it waits for the token of its checkout", () => {
    const text = "waits for the token of its checkout: the host is away";
    const steps = [
      { name: "sources", status: "queued", startTime: null, waitingFor: { reason: "token", text } },
      {
        name: "build",
        status: "pending",
        startTime: null,
        waitingFor: { reason: "step", text: "waits for step sources" },
      },
    ] as const;
    const run = runDetailOf({}, [{ name: "compile", steps: [...steps] }]);
    expect(texts(renderTree(run, { name: "p", steps: "all" })).slice(3)).to.deep.equal([
      `      sources  queued  ${text}`,
      "      build  pending",
    ]);
  });

  it("says how many tests there were, and how they ended", () => {
    const counts = { total: 3, failed: 1, skipped: 0, flaky: 2, durationMs: 9 };
    const run = runDetailOf({ tests: counts }, [{ tests: { ...counts, total: 1, failed: 0, flaky: 0 } }, {}]);
    expect(texts(renderTree(run, { name: "p", steps: "all" }))).to.deep.equal([
      "p  running  1.0s  3 tests (1 failed, 2 flaky)",
      "  build",
      "    job-0  running  500ms  1 test",
      "    job-1  running  500ms",
    ]);
  });

  it("says why a step failed and which attempt it is", () => {
    const run = runDetailOf({ status: "failed" }, [
      {
        status: "failed",
        attempt: 2,
        steps: [
          { status: "failed", exitCode: 3, reason: "exit code 3" },
          { status: "timeout", reason: "timeout" },
          { status: "skipped", startTime: null, reason: "upstream_failed" },
        ],
      },
    ]);
    expect(texts(renderTree(run, { name: "p", steps: "all" })).slice(2)).to.deep.equal([
      "    job-0  failed  (attempt 2)  500ms",
      "      step-0  failed  250ms  exit code 3",
      "      step-1  timeout  250ms  timeout",
      "      step-2  skipped  upstream_failed",
    ]);
  });

  it("leaves out the steps of jobs that are not running when there are few rows", () => {
    const steps = [{}, {}, {}];
    const run = runDetailOf({}, [
      { name: "over", status: "success", steps },
      { name: "on", status: "running", steps },
    ]);
    expect(fitTree(run, "p", 100)).to.have.length(10);
    const short = texts(fitTree(run, "p", 7));
    expect(short).to.have.length(7);
    expect(short.filter((line) => line.includes("step-"))).to.have.length(3);
  });

  it("never has more lines than rows, and says how many are missing", () => {
    const run = runDetailOf(
      {},
      Array.from({ length: 50 }, () => ({ status: "pending" as const })),
    );
    const lines = fitTree(run, "p", 10);
    expect(lines).to.have.length(10);
    expect(lines.at(-1)?.text).to.equal("... 43 more");
  });
});
