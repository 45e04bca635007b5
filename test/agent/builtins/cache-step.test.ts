/** The builtin `cache` on a real agent: what it restores, what it keeps and when. The test plays the gateway. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { expect } from "chai";
import type {
  BeginCache,
  FindCache,
  PullCacheRequest,
  PullCacheResponse,
  PushCacheRequest,
  PushCacheResponse,
} from "../../../proto/generated/gateway/v1/gateway.ts";
import { packCache } from "../../../src/agent/builtins/cache/cache-pack.ts";
import { readCachePaths } from "../../../src/agent/builtins/cache/cache-paths.ts";
import { until } from "../../support/until.ts";
import { AgentBench } from "../test-agent.ts";

type Pull = ServerDuplexStream<PullCacheRequest, PullCacheResponse>;
type Push = ServerDuplexStream<PushCacheRequest, PushCacheResponse>;

const PIECE = 262_144;

describe("a cache step on an agent", () => {
  let bench: AgentBench;
  let finds: FindCache[];
  let begun: BeginCache[];
  let pushed: Buffer[];
  beforeEach(async () => {
    [finds, begun, pushed] = [[], [], []];
    bench = await new AgentBench().open();
    await bench.start();
    bench.gateway.onPushCache = takes;
    bench.gateway.onPullCache = (stream) =>
      answering(stream, () => {
        stream.write({ message: { $case: "missed", value: {} } });
        stream.end();
      });
  });
  afterEach(() => bench.end());

  const answering = (stream: Pull, found: () => void, taken: (offset: number) => void = () => {}) => {
    stream.on("error", () => {});
    stream.on("data", ({ message }: PullCacheRequest) => {
      if (message?.$case === "take") return taken(Number(message.value.offset));
      if (message?.$case === "find") finds.push(message.value);
      found();
    });
  };
  const takes = (stream: Push) => {
    let stored = 0;
    stream.on("error", () => {});
    stream.on("data", ({ message }: PushCacheRequest) => {
      if (message?.$case === "commit") {
        stream.write({ message: { $case: "cacheId", value: "cch_1" } });
        return stream.end();
      }
      if (message?.$case === "begin") begun.push(message.value);
      if (message?.$case === "piece") {
        pushed.push(message.value.data);
        stored += message.value.data.length;
      }
      stream.write({ message: { $case: "storedBytes", value: BigInt(stored) } });
    });
  };
  /** An entry as an agent makes it. */
  const archiveOf = async (files: Record<string, string>, ...paths: string[]): Promise<Buffer> => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-entry-"));
    try {
      await mkdir(join(folder, "work"));
      for (const [path, content] of Object.entries(files)) await writeFile(join(folder, "work", path), content);
      const patterns = readCachePaths(paths, (text) => new Error(text));
      await packCache(join(folder, "work"), patterns, join(folder, "archive"), {
        signal: new AbortController().signal,
        mostBytes: Number.POSITIVE_INFINITY,
      });
      return await readFile(join(folder, "archive"));
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  const entryOf = (key: string, content: Buffer) => ({
    cacheId: "cch_1",
    key,
    sizeBytes: BigInt(content.length),
    sha256: createHash("sha256").update(content).digest("hex"),
    ageMs: 65_000n,
  });
  /** Plays a gateway that has this entry, and sends at most `most` bytes of it in each call. */
  const has = (key: string, content: Buffer, most = Infinity) => {
    bench.gateway.onPullCache = (stream) =>
      answering(
        stream,
        () => void stream.write({ message: { $case: "found", value: entryOf(key, content) } }),
        (offset) => {
          const end = Math.min(content.length, offset + most);
          for (let at = offset; at < end; at += PIECE) {
            stream.write({ message: { $case: "data", value: content.subarray(at, Math.min(end, at + PIECE)) } });
          }
          if (end === content.length) stream.end();
          else stream.emit("error", { code: status.UNAVAILABLE, details: "the node has gone" });
        },
      );
  };
  const cache = (args: object, more: object = {}) =>
    bench.gateway.dispatch({
      uses: "cache",
      argsJson: JSON.stringify({ key: "npm-1", paths: ["deps"], ...args }),
      ...more,
    });
  const shell = async (script: string, stepRunId: string) => {
    bench.gateway.dispatch({ script, stepRunId });
    const end = await bench.gateway.endOf(stepRunId);
    expect(end.phase, end.reason).to.equal("STEP_PHASE_SUCCEEDED");
    return end;
  };
  const release = (succeeded: boolean) =>
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded } });
  const workspaces = () => readdir(join(bench.dataDir, "work"));
  const logOf = async (lines: number, stepRunId = "step_1") =>
    (await bench.gateway.logOf(BigInt(lines), stepRunId)).map(({ content }) => content);

  it("says that it keeps nothing of a file that is mostly holes, or when keeping takes longer than its timeout", async () => {
    cache({}, { contentLimits: { fileBytes: 1_000n, artifactBytes: 1_000n, cacheBytes: 1_000_000n } });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    cache({ key: "slow", paths: ["slow"] }, { stepRunId: "step_2", timeoutMs: 1_500n });
    expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    await shell("mkdir deps slow && truncate -s 200G deps/x && echo content > slow/x", "step_3");
    bench.gateway.onPushCache = (stream) => void stream.on("error", () => {});
    release(true);
    expect((await logOf(2)).at(-1)).to.equal(
      'millrace: warning: the cache "npm-1" is not kept: "deps/x" has 214748364800 bytes (0 of them on the disk); 1000000 are allowed for an entry',
    );
    expect((await logOf(2, "step_2")).at(-1)).to.equal(
      'millrace: warning: the cache "slow" is not kept: it takes longer than the step\'s timeout of 1500 ms',
    );
  });

  it("keeps its paths after a miss when the job has succeeded, before the workspace is removed", async () => {
    cache({ restoreKeys: ["npm-"] });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", reason: "", lastLine: 1n });
    expect(end.outputs).to.deep.equal({ hit: "false", key: "npm-1", restored: "" });
    expect(finds).to.deep.equal([
      { stepRunId: "step_1", token: 1n, key: "npm-1", restoreKeys: ["npm-"], paths: ["deps"] },
    ]);
    await shell("mkdir deps && echo content > deps/x", "step_2");
    expect(begun, "the job is not over").to.deep.equal([]);
    release(true);
    const lines = await logOf(2);
    expect(lines[0]).to.equal('millrace: no cache is kept under "npm-1", and none begins with one of its restoreKeys');
    expect(lines[1]).to.match(/^millrace: the cache "npm-1" is kept: 1 file of \d+ bytes packed, in [\d.]+m?s$/);
    const content = Buffer.concat(pushed);
    expect(begun).to.have.length(1);
    expect(begun[0]).to.include({ stepRunId: "step_1", token: 1n, key: "npm-1", sizeBytes: BigInt(content.length) });
    expect(begun[0]!.sha256).to.equal(createHash("sha256").update(content).digest("hex"));
    await until("no workspace", async () => (await workspaces()).length === 0);
    expect((await readdir(join(bench.dataDir, "scratch"))).filter((name) => name.startsWith("cache-"))).to.deep.equal(
      [],
    );
  });

  it("restores the entry of its key, even over a broken call, and then keeps nothing", async () => {
    const noise = Array.from({ length: 200_000 }, (_, n) => createHash("md5").update(String(n)).digest("hex")).join("");
    const content = await archiveOf({ deps: noise }, "deps");
    expect(content.length).to.be.greaterThan(PIECE * 3);
    has("npm-1", content, PIECE * 2);
    cache({});
    const end = await bench.gateway.endOf();
    expect(end.phase, end.reason).to.equal("STEP_PHASE_SUCCEEDED");
    expect(end.outputs).to.deep.equal({ hit: "true", key: "npm-1", restored: "npm-1" });
    expect(finds.length, "calls").to.equal(Math.ceil(content.length / (PIECE * 2)));
    const [line] = await logOf(1);
    expect(line).to.match(
      new RegExp(`^millrace: the cache "npm-1" is here: 1 file of ${content.length} bytes packed, made 1m05s ago, in `),
    );
    expect(await readFile(join(bench.dataDir, "work/job_1/deps"), "utf8")).to.equal(noise);
    release(true);
    await until("no workspace", async () => (await workspaces()).length === 0);
    expect(begun).to.deep.equal([]);
  });

  it("restores another entry by a restore key, and keeps its own", async () => {
    has("npm-0", await archiveOf({ deps: "old" }, "deps"));
    cache({ restoreKeys: ["npm-"] });
    const end = await bench.gateway.endOf();
    expect(end.outputs).to.deep.equal({ hit: "false", key: "npm-1", restored: "npm-0" });
    expect((await logOf(1))[0]).to.include('the cache "npm-0" in place of "npm-1" is here');
    release(true);
    expect((await logOf(2))[1]).to.include('the cache "npm-1" is kept');
  });

  it("appends a dash and the hash of its keyFiles to its key", async () => {
    await shell("echo one > lock", "step_0");
    const keys: string[] = [];
    for (const [index, content] of ["one", "one", "two"].entries()) {
      await shell(`echo ${content} > lock`, `step_a${index}`);
      cache({ keyFiles: ["lock"], restoreKeys: ["npm-1-"] }, { stepRunId: `step_b${index}` });
      keys.push((await bench.gateway.endOf(`step_b${index}`)).outputs["key"]!);
    }
    expect(keys[0]).to.match(/^npm-1-[0-9a-f]{64}$/);
    expect(keys[1]).to.equal(keys[0]);
    expect(keys[2]).not.to.equal(keys[0]);
    expect(finds.map(({ key }) => key)).to.deep.equal(keys);
    cache({ keyFiles: ["none*"] }, { stepRunId: "step_c" });
    expect(await bench.gateway.endOf("step_c")).to.include({
      phase: "STEP_PHASE_FAILED",
      reason: 'cache keyFiles: no file matches "none*"',
    });
  });

  it("keeps nothing of a job that did not succeed", async () => {
    cache({});
    await bench.gateway.endOf();
    await shell("echo content > deps", "step_2");
    release(false);
    await until("no workspace", async () => (await workspaces()).length === 0);
    expect(begun).to.deep.equal([]);
  });

  it("logs after the job why nothing is kept", async () => {
    cache({});
    await bench.gateway.endOf();
    release(true);
    expect((await logOf(2))[1]).to.equal(
      'millrace: warning: the cache "npm-1" is not kept: there is no file in its paths',
    );
  });

  it("logs after the job that the gateway refuses the entry", async () => {
    bench.gateway.onPushCache = (stream) =>
      void stream.emit("error", { code: status.FAILED_PRECONDITION, details: "another job has kept it" });
    cache({});
    await bench.gateway.endOf();
    await shell("echo content > deps", "step_2");
    release(true);
    expect((await logOf(2))[1]).to.equal('millrace: warning: the cache "npm-1" is not kept: another job has kept it');
  });

  it("succeeds without an entry that cannot be fetched, and writes no part of it", async () => {
    const content = await archiveOf({ deps: "old" }, "deps");
    bench.gateway.onPullCache = (stream) =>
      void stream.emit("error", { code: status.NOT_FOUND, details: "it is gone" });
    cache({});
    expect((await bench.gateway.endOf()).outputs).to.include({ hit: "false" });
    expect((await logOf(1))[0]).to.equal('millrace: warning: no cache is restored for "npm-1": it is gone');
    const entry = { ...entryOf("npm-1", content), sha256: "0".repeat(64) };
    bench.gateway.onPullCache = (stream) =>
      answering(
        stream,
        () => void stream.write({ message: { $case: "found", value: entry } }),
        () => {
          stream.write({ message: { $case: "data", value: content } });
          stream.end();
        },
      );
    cache({}, { stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).outputs).to.include({ hit: "false" });
    expect((await logOf(1, "step_2"))[0]).to.include("the downloaded content does not match its checksum");
    expect(await readdir(join(bench.dataDir, "work/job_1"))).to.deep.equal([]);
  });

  it("fails when an entry cannot be unpacked, and for invalid arguments", async () => {
    has("npm-1", await archiveOf({ other: "x" }, "other"));
    for (const [index, [args, reason]] of [
      [{}, 'the cache "npm-1" cannot be restored, and a part of it may be here: "other" is not one of the paths'],
      [{ paths: ["../x"] }, 'cache paths: "../x" is not within the workspace'],
      [{ paths: [] }, "cache takes a list of patterns as paths"],
      [{ key: "" }, "cache takes a text of 1 to 512 characters as key"],
      [{ key: "k".repeat(513) }, "cache takes a text of 1 to 512 characters as key"],
      [{ restoreKeys: "npm" }, "cache takes a list of texts as restoreKeys"],
      [{ path: "x" }, 'cache does not know "path"'],
      [{ key: "npm-hush-hush" }, "cache takes no secret in a key"],
    ].entries() as Iterable<[number, [object, string]]>) {
      cache(args, { stepRunId: `step_${index}`, secrets: ["hush-hush"] });
      const end = await bench.gateway.endOf(`step_${index}`);
      expect(end.phase).to.equal("STEP_PHASE_FAILED");
      expect(end.reason).to.include(reason);
    }
  });

  it("delays the stop of an agent for a limited time while it keeps its entry", async () => {
    let isOpen = false;
    bench.gateway.onPushCache = (stream) => {
      stream.on("error", () => {});
      isOpen = true;
      stream.resume();
    };
    const agent = await bench.restart({ drainTimeoutMs: 1_500 });
    cache({});
    await bench.gateway.endOf();
    await shell("echo content > deps", "step_2");
    release(true);
    await until("the upload", () => isOpen);
    const stoppedAt = performance.now();
    await agent.stop();
    expect(performance.now() - stoppedAt).to.be.within(1_000, 8_000);
    const lines = bench.gateway.lines.get("step_1")!.map(({ content }) => content);
    expect(lines.at(-1)).to.equal('millrace: warning: the cache "npm-1" is not kept: the agent was stopped');
  });
});
