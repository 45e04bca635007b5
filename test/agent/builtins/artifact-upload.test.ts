/** A real agent keeps the declared artifacts of a step before it reports the end. The test plays the gateway. */
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { IfMissing } from "../../../proto/generated/agent/v1/agent.ts";
import type { PushArtifactRequest, PushArtifactResponse } from "../../../proto/generated/gateway/v1/gateway.ts";
import { until } from "../../support/until.ts";
import { AgentBench } from "../test-agent.ts";

type Push = ServerDuplexStream<PushArtifactRequest, PushArtifactResponse>;

const KEEP = { artifacts: [{ name: "out", paths: ["out"], ifMissing: IfMissing.IF_MISSING_ERROR }] };

describe("the artifacts of a step on an agent", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  /** Answers as a gateway that has `storedBytes` already, and collects what the agent sends. */
  const takes =
    (pieces: Buffer[], storedBytes = 0) =>
    (stream: Push) => {
      let stored = storedBytes;
      stream.on("error", () => {});
      stream.on("data", ({ message }: PushArtifactRequest) => {
        if (message?.$case === "commit") {
          stream.write({ message: { $case: "artifactId", value: "art_1" } });
          return stream.end();
        }
        if (message?.$case === "piece") {
          pieces.push(message.value.data);
          stored += message.value.data.length;
        }
        stream.write({ message: { $case: "storedBytes", value: BigInt(stored) } });
      });
    };

  it("are stored before the end is reported, and a line of the log says so", async () => {
    const pieces: Buffer[] = [];
    let reportsAtCommit = -1;
    bench.gateway.onPushArtifact = (stream) => {
      stream.on("data", ({ message }: PushArtifactRequest) => {
        const ends = bench.gateway.reports.filter(({ phase }) => phase !== "STEP_PHASE_STARTED");
        if (message?.$case === "commit") reportsAtCommit = ends.length;
      });
      takes(pieces)(stream);
    };
    bench.gateway.dispatch({ script: "echo hello; echo content > out", ...KEEP });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", reason: "", lastLine: 2n });
    expect(reportsAtCommit).to.equal(0);
    expect(Buffer.concat(pieces).toString()).to.equal("content\n");
    const lines = await bench.gateway.logOf(end.lastLine);
    expect(lines.map(({ content }) => content)).to.deep.equal([
      "hello",
      'millrace: the artifact "out" is kept: 8 bytes in 1 file',
    ]);
  });

  it("are sent again after a failure, starting at the offset that the gateway reports", async () => {
    const pieces: Buffer[] = [];
    let tries = 0;
    bench.gateway.onPushArtifact = (stream) => {
      if (++tries <= 2) return void stream.emit("error", { code: status.UNAVAILABLE, details: "the store is out" });
      takes(pieces, 262_144)(stream);
    };
    bench.gateway.dispatch({ script: "head -c 262146 /dev/zero | tr '\\0' a > out", ...KEEP });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    expect(tries).to.equal(3);
    expect(Buffer.concat(pieces).toString()).to.equal("aa");
  });

  it("count as time of the step: one that takes too long is ended with its timeout", async () => {
    let isAsked = false;
    bench.gateway.onPushArtifact = (stream) => {
      isAsked = true;
      stream.on("error", () => {});
    };
    bench.gateway.dispatch({ script: "echo content > out", timeoutMs: 1_500n, ...KEEP });
    expect(await bench.gateway.endOf()).to.include({
      phase: "STEP_PHASE_TIMED_OUT",
      reason: "the step took longer than its timeout of 1500 ms; it was keeping its artifacts",
    });
    expect(isAsked).to.equal(true);
  });

  it("are refused by their sizes before they are read, when the control plane tells its limits", async () => {
    const contentLimits = { fileBytes: 1_000_000n, artifactBytes: 2_000_000n, cacheBytes: 1_000_000n };
    bench.gateway.dispatch({ script: "truncate -s 2T out", contentLimits, ...KEEP });
    const { phase, reason } = await bench.gateway.endOf();
    expect(phase).to.equal("STEP_PHASE_FAILED");
    expect(reason).to.equal(
      'the artifact "out" cannot be kept: "out" has 2199023255552 bytes (0 of them on the disk); 1000000 are allowed for a file',
    );
  });

  it("fail only a successful step when the gateway refuses them", async () => {
    bench.gateway.onPushArtifact = (stream) =>
      void stream.emit("error", { code: status.FAILED_PRECONDITION, details: "it is too late" });
    bench.gateway.dispatch({ script: "echo content > out", ...KEEP });
    expect(await bench.gateway.endOf()).to.include({
      phase: "STEP_PHASE_FAILED",
      exitCode: 0,
      reason: 'the artifact "out" cannot be kept: it is too late',
    });
    bench.gateway.dispatch({ script: "echo content > out; exit 4", stepRunId: "step_2", ...KEEP });
    expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_FAILED", reason: "exit code 4" });
  });

  it("are not kept of a cancelled or timed-out step", async () => {
    let pushes = 0;
    bench.gateway.onPushArtifact = (stream) => {
      pushes++;
      takes([])(stream);
    };
    bench.gateway.dispatch({ script: "echo content > out; sleep 60", timeoutMs: 200n, cancelGraceMs: 0n, ...KEEP });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_TIMED_OUT" });
    expect(pushes).to.equal(0);
  });

  it("are no longer sent when the step is cancelled", async () => {
    let open: Push | undefined;
    let isGone = false;
    bench.gateway.onPushArtifact = (stream) => {
      open = stream;
      stream.on("error", () => {});
      stream.on("cancelled", () => (isGone = true));
      stream.resume();
    };
    const { token } = bench.gateway.dispatch({ script: "echo content > out", ...KEEP });
    await until("the upload", () => open);
    const value = { jobId: "job_1", stepRunId: "step_1", token, graceMs: 10_000n, reason: "stopped by ann" };
    bench.gateway.send({ $case: "revoke", value });
    expect(await bench.gateway.endOf()).to.include({
      phase: "STEP_PHASE_CANCELLED",
      reason: "stopped by ann",
      exitCode: 0,
    });
    await until("the end of the upload", () => isGone);
  });

  it("are no longer sent when the lease runs out, and the step is lost", async () => {
    let open: Push | undefined;
    bench.gateway.onPushArtifact = (stream) => {
      open = stream;
      stream.on("error", () => {});
      stream.resume();
    };
    bench.gateway.dispatch({ script: "echo content > out", leaseMs: 1_000n, ...KEEP });
    await until("the upload", () => open);
    bench.gateway.acknowledgesHeartbeats = false;
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST" });
  });
});
