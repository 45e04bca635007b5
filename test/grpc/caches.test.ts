/** Caches over a real gateway and its store: fetched, sent after the end of the job, refused, and pruned. */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type {
  PullCacheRequest,
  PullCacheResponse,
  PushCacheRequest,
  PushCacheResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { pruneCaches } from "../../src/app/content/cache-pruner.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { cacheVersion, KEEP_CACHE_MS } from "../../src/domain/caches.ts";
import { asId, cacheIdOf, newId, type ProjectId } from "../../src/domain/ids.ts";
import { CACHE_RULES } from "../support/cache-rules.ts";
import { until } from "../support/until.ts";
import { sha256 } from "./artifact-push.ts";
import { Gateway, Stream, type TestAgent } from "./gateway.ts";
import { OF_FORK, StoredRun } from "./stored-run.ts";

const PATHS = ["node_modules"];
const DEFAULT = asId<ProjectId>("default");
const EMPTY = {
  action: "",
  args: {},
  env: [],
  workingDirectory: "",
  late: [],
  secrets: [],
  artifacts: [],
  plugin: null,
};

class Push extends Stream<PushCacheRequest, PushCacheResponse> {
  begin(stepRunId: string, key: string, content: Uint8Array, changes: object = {}): void {
    const size = { sizeBytes: BigInt(content.length), sha256: sha256(content) };
    this.send({ message: { $case: "begin", value: { stepRunId, token: 1n, key, paths: PATHS, ...size, ...changes } } });
  }

  piece(content: Uint8Array, offset: number): void {
    const data = Buffer.from(content.subarray(offset, offset + PIECE_BYTES));
    this.send({ message: { $case: "piece", value: { offset: BigInt(offset), data } } });
  }

  all(content: Uint8Array, from = 0): void {
    for (let at = from; at < content.length; at += PIECE_BYTES) this.piece(content, at);
    this.send({ message: { $case: "commit", value: {} } });
  }
}

describe("caches over gRPC", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let other: TestAgent;
  before(async () => {
    gateway = await Gateway.start();
    agent = await gateway.register("keeper");
    other = await gateway.register("other");
  });
  after(() => gateway.stop());
  afterEach(async () => {
    const { list } = await gateway.stores.caches.list(DEFAULT, "", { page: 1, pageSize: 100 });
    for (const entry of list) await gateway.stores.caches.markDeleting(entry, Number.MAX_SAFE_INTEGER);
    await sweep();
  });

  const sweep = (now = Date.now()) =>
    pruneCaches({ ...gateway.context, clock: { ...gateway.context.clock, now: () => now } }, 100);
  const grant = () => ({ agentId: agent.agentId, bootId: "boot-1", token: 1, requestId: "r" });
  /** Starts a run whose only step is running. */
  const running = async (uses = "cache", trigger: Parameters<typeof StoredRun.create>[3] = {}): Promise<StoredRun> => {
    const run = await StoredRun.create(gateway.stores, [{}], { steps: [{ name: "s", uses, ...EMPTY }] }, trigger);
    await run.grant(grant(), "running");
    return run;
  };
  const ended = async (uses = "cache", endedAt = Date.now(), trigger = {}): Promise<StoredRun> => {
    const run = await running(uses, trigger);
    await run.change({ job: 0, step: 0, state: { state: "success", endedAt } });
    await run.change({ job: 0, state: { state: "success", stepActive: false, endedAt } });
    return run;
  };
  const push = (by = agent) => new Push(gateway.logs().pushCache(by.metadata));
  const keep = async (key: string, content: Uint8Array, run?: StoredRun, changes: object = {}) => {
    const stream = push();
    stream.begin((run ?? (await ended())).stepRunId(), key, content, changes);
    stream.all(content);
    return stream.ended();
  };
  const kept = async (key: string, content: Uint8Array = Buffer.from(key)): Promise<void> => {
    const { code, details } = await keep(key, content);
    expect(code, details).to.equal(status.OK);
  };
  const pull = async (run: StoredRun, key: string, restoreKeys: string[] = [], { offset = 0, paths = PATHS } = {}) => {
    const stream = new Stream<PullCacheRequest, PullCacheResponse>(gateway.logs().pullCache(agent.metadata));
    const value = { stepRunId: run.stepRunId(), token: 1n, key, restoreKeys, paths };
    stream.send({ message: { $case: "find", value } });
    stream.send({ message: { $case: "take", value: { offset: BigInt(offset) } } });
    const { code, details } = await stream.ended();
    const pieces = stream.received.flatMap(({ message }) => (message?.$case === "data" ? [message.value] : []));
    const first = stream.received[0]?.message;
    return { code, details, content: Buffer.concat(pieces), found: first?.$case === "found" ? first.value : undefined };
  };
  const find = (key: string, paths = PATHS, projectId = DEFAULT) =>
    gateway.stores.caches.find(cacheIdOf(projectId, cacheVersion(paths), key));

  it("keeps an entry, and gives it to later steps of the project, as a whole or its end", async () => {
    const content = randomBytes(PIECE_BYTES + 10);
    const before = Date.now();
    await kept("npm-1", content);
    const entry = (await find("npm-1"))!;
    expect(entry).to.include({ state: "stored", sizeBytes: content.length, sha256: sha256(content) });
    expect(entry.expiresAt - entry.createdAt).to.equal(CACHE_RULES.retentionMs);
    const whole = await pull(await running(), "npm-1");
    expect(whole.code, whole.details).to.equal(status.OK);
    expect(whole.found).to.include({ key: "npm-1", sha256: sha256(content) });
    expect(Number(whole.found!.ageMs)).to.be.within(0, Date.now() - before);
    expect(whole.content.equals(content)).to.equal(true);
    const end = await pull(await running(), "npm-1", [], { offset: PIECE_BYTES - 1 });
    expect(end.content.equals(content.subarray(PIECE_BYTES - 1))).to.equal(true);
    expect((await find("npm-1"))!.usedAt, "it was used").to.be.at.least(entry.usedAt);
  });

  it("finds the entry of the key first, then the newest entry of the first matching prefix", async () => {
    const run = await running();
    for (const key of ["npm-a-1", "npm-b-1", "npm-a-2"]) await kept(key);
    const keyOf = async (key: string, ...restoreKeys: string[]) => (await pull(run, key, restoreKeys)).found?.key;
    expect(await keyOf("npm-a-1", "npm-")).to.equal("npm-a-1");
    expect(await keyOf("npm-a-3", "npm-b", "npm-")).to.equal("npm-b-1");
    expect(await keyOf("npm-a-3", "none", "npm-")).to.equal("npm-a-2");
    expect(await keyOf("npm-a"), "a key is no beginning").to.equal(undefined);
    expect((await pull(run, "npm-a-1", [], { paths: ["dist"] })).found, "other paths").to.equal(undefined);
    expect((await pull(run, "none")).code, "a miss is no error").to.equal(status.OK);
  });

  it("finds no entry of another project", async () => {
    await kept("npm-1");
    const ours = (await find("npm-1"))!;
    const projectId = newId("prj");
    const theirs = { ...ours, projectId, key: "npm-2", cacheId: cacheIdOf(projectId, ours.version, "npm-2") };
    await gateway.stores.caches.begin({ ...theirs, state: "uploading" });
    await gateway.stores.caches.store(theirs, Date.now() + 1_000, theirs.expiresAt);
    const run = await running();
    expect((await pull(run, "npm-2")).found).to.equal(undefined);
    expect((await pull(run, "npm-2", ["npm-"])).found?.key).to.equal("npm-1");
    await gateway.stores.caches.markDeleting(theirs, Number.MAX_SAFE_INTEGER);
  });

  it("never changes the entry of a key", async () => {
    await kept("npm-1", Buffer.from("first"));
    const second = await keep("npm-1", Buffer.from("second"));
    expect(second.code).to.equal(status.FAILED_PRECONDITION);
    expect(second.details).to.match(/another job \(run run_\w+\) has kept an entry of this key meanwhile/);
    expect((await pull(await running(), "npm-1")).content.toString()).to.equal("first");
  });

  it("resumes an interrupted upload, and accepts the same one again", async () => {
    const run = await ended();
    const content = randomBytes(2 * PIECE_BYTES + 5);
    const cut = push();
    cut.begin(run.stepRunId(), "npm-1", content);
    cut.piece(content, 0);
    await until("two answers", () => cut.received.length === 2);
    cut.cancel();
    const again = push();
    again.begin(run.stepRunId(), "npm-1", content);
    await until("an answer", () => again.received.length === 1);
    expect(again.received[0]!.message).to.deep.equal({ $case: "storedBytes", value: BigInt(PIECE_BYTES) });
    again.all(content, PIECE_BYTES);
    expect((await again.ended()).code).to.equal(status.OK);
    // A lost answer makes the agent repeat this.
    expect((await keep("npm-1", content, run)).code).to.equal(status.OK);
    expect((await pull(await running(), "npm-1")).content.equals(content)).to.equal(true);
  });

  it("refuses entries of jobs that run or failed, of other agents or steps, and late ones", async () => {
    const content = Buffer.from("x");
    const failed = await running();
    await failed.change({ job: 0, step: 0, state: { state: "success", endedAt: 1 } });
    await failed.change({ job: 0, state: { state: "failed", endedAt: Date.now() } });
    for (const [what, run, changes] of [
      ["can be kept only when its job has succeeded, and it has not", await running(), {}],
      ["can be kept only when its job has succeeded, and it has not", failed, {}],
      ["under token 2", await ended(), { token: 2n }],
      ["it is too late", await ended("cache", Date.now() - KEEP_CACHE_MS), {}],
      ["is no cache step", await ended("shell"), {}],
    ] as const) {
      const { code, details } = await keep("npm-1", content, run, changes);
      expect(code, what).to.equal(status.FAILED_PRECONDITION);
      expect(details).to.include(what);
    }
    const stream = push(other);
    stream.begin((await ended()).stepRunId(), "npm-1", content);
    expect((await stream.ended()).details).to.include("this agent did not have step run");
    expect(await find("npm-1")).to.equal(undefined);
  });

  it("keeps no entry of a run of a fork, which reads entries of others", async () => {
    await kept("npm-1");
    const fork = await ended("cache", Date.now(), OF_FORK);
    const { code, details } = await keep("npm-2", Buffer.from("poison"), fork);
    expect([code, details]).to.deep.equal([
      status.FAILED_PRECONDITION,
      "the run was started from a fork: it may read entries of the cache, and keeps none",
    ]);
    expect(await find("npm-2")).to.equal(undefined);
    expect((await pull(await running("cache", OF_FORK), "npm-1")).content.toString()).to.equal("npm-1");
  });

  it("finds nothing for a step that the agent does not hold", async () => {
    await kept("npm-1");
    for (const run of [await ended(), await running("shell")]) {
      expect((await pull(run, "npm-1")).code).to.equal(status.FAILED_PRECONDITION);
    }
  });

  it("refuses entries that are too large, empty, or not as announced", async () => {
    const large = await keep("npm-1", randomBytes(10), undefined, { sizeBytes: BigInt(CACHE_RULES.maxEntryBytes + 1) });
    expect(large.details).to.include(`it has ${CACHE_RULES.maxEntryBytes + 1} bytes; ${CACHE_RULES.maxEntryBytes} are`);
    expect((await keep("npm-1", Buffer.from(""))).code).to.equal(status.INVALID_ARGUMENT);
    expect((await keep("", Buffer.from("x"))).code).to.equal(status.INVALID_ARGUMENT);
    const wrong = await keep("npm-1", Buffer.from("x"), undefined, { sha256: "0".repeat(64) });
    expect(wrong.details).to.include("does not have the checksum");
    expect(await find("npm-1"), "nothing is left of it").to.equal(undefined);
    await kept("npm-1");
  });

  it("makes room by deleting the entries that were unused for longest", async () => {
    const now = Date.now();
    for (const [key, usedAt] of [
      ["a", now],
      ["b", now - 2],
      ["c", now - 1],
    ] as const) {
      await kept(key, randomBytes(400_000));
      await gateway.stores.caches.touch((await find(key))!, usedAt, now + 100_000);
    }
    const { blobId } = (await find("b"))!;
    await sweep();
    expect(await find("b")).to.equal(undefined);
    expect(await gateway.stores.blobs.storedBytes(blobId), "its content").to.equal(0);
    expect((await pull(await running(), "a")).content).to.have.length(400_000);
    expect((await pull(await running(), "c")).content).to.have.length(400_000);
  });

  it("deletes entries that were unused for long, and abandoned uploads", async () => {
    await kept("old");
    const left = push();
    left.begin((await ended()).stepRunId(), "left", randomBytes(PIECE_BYTES + 1));
    left.piece(randomBytes(PIECE_BYTES), 0);
    await until("two answers", () => left.received.length === 2);
    left.cancel();
    await sweep(Date.now() + KEEP_CACHE_MS + 30_000);
    expect(await find("left"), "its last piece may still come").to.include({ state: "uploading" });
    const { blobId } = (await find("left"))!;
    await sweep(Date.now() + KEEP_CACHE_MS + 120_000);
    expect(await find("left")).to.equal(undefined);
    expect(await gateway.stores.blobs.storedBytes(blobId)).to.equal(0);
    await sweep(Date.now() + CACHE_RULES.retentionMs - 1_000);
    expect(await find("old")).to.include({ state: "stored" });
    await sweep(Date.now() + CACHE_RULES.retentionMs + 1);
    expect(await find("old")).to.equal(undefined);
  });

  it("finishes an interrupted deletion", async () => {
    await kept("npm-1");
    const entry = (await find("npm-1"))!;
    await gateway.stores.caches.markDeleting(entry, Number.MAX_SAFE_INTEGER);
    expect((await pull(await running(), "npm-1")).found, "it is given up on").to.equal(undefined);
    await gateway.stores.blobs.delete(entry.blobId);
    await sweep();
    expect(await find("npm-1")).to.equal(undefined);
  });

  it("replaces an entry that is being deleted, has expired, or has lost its content", async () => {
    await kept("npm-1", Buffer.from("first"));
    await gateway.stores.caches.markDeleting((await find("npm-1"))!, Number.MAX_SAFE_INTEGER);
    await kept("npm-1", Buffer.from("second"));
    await gateway.stores.caches.touch((await find("npm-1"))!, Date.now(), Date.now() - 1);
    expect((await pull(await running(), "npm-1")).found).to.equal(undefined);
    await kept("npm-1", Buffer.from("third"));
    await gateway.stores.blobs.delete((await find("npm-1"))!.blobId);
    const lost = await pull(await running(), "npm-1");
    expect(lost.code).to.equal(status.NOT_FOUND);
    await kept("npm-1", Buffer.from("fourth"));
    expect((await pull(await running(), "npm-1")).content.toString()).to.equal("fourth");
  });
});
