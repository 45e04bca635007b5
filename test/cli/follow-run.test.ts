import { expect } from "chai";
import type { LogStream } from "../../clients/typescript/src/index.ts";
import { followRun, type RunSource } from "../../src/cli/follow-run.ts";
import type { RunDetail } from "../../src/cli/run-tree.ts";
import type { LogEntry } from "../../src/cli/run-view.ts";

const LAST_LINE = 20;
const READ_EVERY_MS = 20;
const SILENCE_MS = 5 * READ_EVERY_MS;

/** A run that has ended. One line of its log arrives with each read of the run, until so many have. */
function sourceOf(arriving: number): RunSource {
  const step = { name: "s", stepRunId: "step_1", status: "success", startTime: "t", lastLine: LAST_LINE };
  const run = { pipelineId: "pl_1", status: "success", jobs: [{ name: "j", jobId: "job_1", steps: [step] }] };
  let lines = 0;
  const stream = {
    follow(_: unknown, take: (entry: LogEntry) => void) {
      if (lines < arriving) take({ line_number: ++lines } as LogEntry);
    },
    unfollow() {},
    isComplete: (_: string, lastLine: number) => lines >= lastLine,
    close() {},
  };
  return { run: async () => run as unknown as RunDetail, logs: () => stream as unknown as LogStream };
}

async function follow(arriving: number) {
  const lines: number[] = [];
  const incomplete: string[] = [];
  const follower = {
    update() {},
    log: (_job: unknown, _step: unknown, { line_number: line }: LogEntry) => void lines.push(line),
    incomplete: (job: { name: string }, step: { name: string }) => void incomplete.push(`${job.name}/${step.name}`),
  };
  const options = { readEveryMs: READ_EVERY_MS, silenceMs: SILENCE_MS };
  await followRun(sourceOf(arriving), "run_1", follower, new AbortController().signal, options);
  return { lines: lines.length, incomplete };
}

describe("following a run that ends before the last lines of its log arrive", () => {
  it("goes on while lines come, however long they take together", async () => {
    expect(await follow(LAST_LINE)).to.deep.equal({ lines: LAST_LINE, incomplete: [] });
  });

  it("ends when no line comes any more, and tells of each log that is not whole", async () => {
    expect(await follow(3)).to.deep.equal({ lines: 3, incomplete: ["j/s"] });
  });
});
