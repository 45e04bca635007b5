/** Tests of the program's log: what a line about a run has, and what no line has. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createLogger } from "../../src/cli/logging.ts";
import type { JobRunId, RunId, StepRunId } from "../../src/domain/ids.ts";
import { spanIdOf, traceIdOf } from "../../src/telemetry/trace-ids.ts";

describe("the log of the program", () => {
  it("names the trace of a run, and the span of the narrowest object of the line", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-log-"));
    const file = join(folder, "log");
    const log = createLogger("info", file);
    const [runId, jobId, stepRunId] = ["run_1" as RunId, "job_1" as JobRunId, "step_1" as StepRunId];
    log.info({ runId, jobId, stepRunId, token: "secret" }, "a step");
    log.info({ runId, jobId }, "a job");
    log.info({ runId, requestId: "r" }, "a run");
    log.info({ requestId: "r" }, "a call");
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    await rm(folder, { recursive: true });
    const traceId = traceIdOf(runId);
    const [step, job, run, call] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(step).to.include({ runId, jobId, stepRunId, traceId, spanId: spanIdOf(stepRunId), token: "[redacted]" });
    expect(job).to.include({ traceId, spanId: spanIdOf(jobId) });
    expect(run).to.include({ traceId, spanId: spanIdOf(runId), requestId: "r" });
    expect(call).to.include({ requestId: "r" }).and.not.to.have.any.keys("traceId", "spanId");
  });
});
