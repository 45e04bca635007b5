/** The builtin `upload` on a real agent. The test plays the gateway. */
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PullUploadRequest } from "../../../proto/generated/gateway/v1/gateway.ts";
import { AgentBench } from "../test-agent.ts";

const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

describe("an upload step on an agent", () => {
  let bench: AgentBench;
  let pulls: PullUploadRequest[];
  beforeEach(async () => {
    pulls = [];
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  /** Plays a gateway that has this upload, and sends at most `most` bytes of it in each call. */
  const has = (content: Buffer, { fileName = "a.bin", most = Infinity, digest = sha256(content) } = {}) => {
    bench.gateway.onPullUpload = (stream) => {
      pulls.push(stream.request);
      const found = { uploadId: "upl_1", fileName, sizeBytes: BigInt(content.length), sha256: digest };
      stream.write({ message: { $case: "found", value: found } });
      const from = Number(stream.request.offset);
      const to = Math.min(content.length, from + most);
      if (to > from) stream.write({ message: { $case: "data", value: content.subarray(from, to) } });
      if (to === content.length) stream.end();
      else stream.emit("error", { code: status.UNAVAILABLE, details: "the node has gone" });
    };
  };
  const take = (args: object, stepRunId = "step_1") => {
    bench.gateway.dispatch({ uses: "upload", argsJson: JSON.stringify({ name: "FIRMWARE", ...args }), stepRunId });
    return bench.gateway.endOf(stepRunId);
  };
  const files = () => readdir(join(bench.dataDir, "work"), { recursive: true });

  it("puts the file into the workspace, over a broken call, and tells its path", async () => {
    const content = randomBytes(100_000);
    has(content, { most: 60_000 });
    const end = await take({ path: "./images/", as: "firmware.bin" });
    expect(end.phase, end.reason).to.equal("STEP_PHASE_SUCCEEDED");
    expect(pulls.map(({ name, offset }) => [name, Number(offset)])).to.deep.equal([
      ["FIRMWARE", 0],
      ["FIRMWARE", 60_000],
    ]);
    expect(end.outputs).to.deep.equal({ path: "images/firmware.bin" });
    const script = `echo "${sha256(content)}  images/firmware.bin" | sha256sum --check`;
    bench.gateway.dispatch({ script, stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
  });

  it("takes an empty file, under its own name", async () => {
    has(Buffer.alloc(0), { fileName: "empty.txt" });
    const end = await take({});
    expect(end.phase, end.reason).to.equal("STEP_PHASE_SUCCEEDED");
    expect(end.outputs).to.deep.equal({ path: "empty.txt" });
    expect((await files()).some((path) => path.endsWith("/empty.txt"))).to.equal(true);
  });

  it("leaves no part of a file that has another checksum, or whose name leads out of the workspace", async () => {
    has(Buffer.from("abc"), { digest: sha256(Buffer.from("abd")) });
    const changed = await take({}, "step_1");
    expect(changed.phase).to.equal("STEP_PHASE_FAILED");
    expect(changed.reason).to.include("does not match its checksum");
    has(Buffer.from("abc"), { fileName: "../../escaped" });
    const escaped = await take({}, "step_2");
    expect(escaped.reason).to.include("no path within the workspace");
    expect((await files()).filter((path) => /escaped|a\.bin|part/.test(path))).to.deep.equal([]);
  });

  it("fails for invalid arguments, and with the reason of a gateway that refuses it", async () => {
    for (const [args, reason] of [
      [{ name: 1 }, "takes the name of an upload"],
      [{ as: "a/b" }, "takes the name of one file as as"],
      [{ path: 1 }, "takes a folder"],
      [{ file: "x" }, 'does not know "file"'],
      [{ path: "../x" }, "no path within the workspace"],
    ] as const) {
      has(Buffer.from("abc"));
      const { phase, reason: told } = await take(args, `step_${reason}`);
      expect([phase, told.includes(reason)], told).to.deep.equal(["STEP_PHASE_FAILED", true]);
    }
    bench.gateway.onPullUpload = (stream) =>
      void stream.emit("error", { code: status.NOT_FOUND, details: "the trigger gave no upload" });
    const refused = await take({}, "step_last");
    expect([refused.phase, refused.reason]).to.deep.equal(["STEP_PHASE_FAILED", "the trigger gave no upload"]);
  });
});
