/** Artifacts over a real gateway and its store: sent by an agent, interrupted, resumed, refused, handed out. */
import { randomBytes } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PullArtifactRequest, PullArtifactResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import { type ArtifactId, asId } from "../../src/domain/ids.ts";
import { PIECE_BYTES } from "../../src/domain/artifacts.ts";
import type { ArtifactRule } from "../../src/domain/artifacts.ts";
import { pruneArtifacts } from "../../src/app/content/artifact-pruner.ts";
import { ARTIFACT_RULES } from "../support/artifact-rules.ts";
import { until } from "../support/until.ts";
import { ArtifactPush, sha256 } from "./artifact-push.ts";
import { Gateway, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { UserCalls } from "./user-calls.ts";

const rule = (name: string, more: Partial<ArtifactRule> = {}): ArtifactRule => ({
  name,
  paths: ["**"],
  ifMissing: "error",
  retentionMs: null,
  ...more,
});
const spec = (...artifacts: readonly ArtifactRule[]) => ({
  steps: [
    {
      name: "s",
      uses: "shell",
      action: "",
      args: {},
      env: [],
      workingDirectory: "",
      late: [],
      secrets: [],
      artifacts,
      plugin: null,
    },
  ],
});

describe("artifacts over gRPC", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  before(async () => {
    gateway = await Gateway.start();
    agent = await gateway.register("keeper");
  });
  after(() => gateway.stop());

  const grantOf = (to: TestAgent, token = 1) => ({ agentId: to.agentId, bootId: "boot-1", token, requestId: "r" });
  /** Starts a run whose only step is running and declares artifacts. */
  const running = async (...rules: readonly ArtifactRule[]): Promise<StoredRun> => {
    const run = await StoredRun.create(gateway.stores, [{}, {}], spec(...rules));
    await run.grant(grantOf(agent), "running", 0);
    await run.grant(grantOf(agent), "running", 1);
    return run;
  };
  const keep = async (run: StoredRun, name: string, files: Record<string, Uint8Array>, job = 0): Promise<string> => {
    const push = new ArtifactPush(gateway, agent);
    push.begin(run.stepRunId(job), name, files);
    const content = Buffer.concat(Object.values(files));
    for (let at = 0; at < content.length; at += PIECE_BYTES) push.piece(at, content.subarray(at, at + PIECE_BYTES));
    push.commit();
    const { code, details } = await push.ended();
    expect(code, details).to.equal(status.OK);
    const { message } = push.received.at(-1)!;
    return message?.$case === "artifactId" ? message.value : "";
  };
  const find = (id: string) => gateway.stores.artifacts.find(asId<ArtifactId>(id));
  const pull = async (run: StoredRun, name: string, { job = "", files = [0], offset = 0, step = 1 } = {}) => {
    const stream = new Stream<PullArtifactRequest, PullArtifactResponse>(gateway.logs().pullArtifact(agent.metadata));
    const stepRunId = run.stepRunId(step);
    stream.send({ message: { $case: "find", value: { stepRunId, token: 1n, name, job } } });
    stream.send({ message: { $case: "take", value: { files, offset: BigInt(offset) } } });
    const { code, details } = await stream.ended();
    const pieces = stream.received.flatMap(({ message }) => (message?.$case === "data" ? [message.value] : []));
    const [first] = stream.received;
    const found = first?.message?.$case === "found" ? first.message.value : undefined;
    return { code, details, content: Buffer.concat(pieces), found };
  };

  it("keeps an artifact, and gives a later step all files, some, or the end of one", async () => {
    const run = await running(rule("build", { retentionMs: 3_600_000 }));
    const files = {
      "a.sh": randomBytes(PIECE_BYTES + 10),
      empty: new Uint8Array(),
      "b/c": randomBytes(100),
      d: randomBytes(7),
    };
    const before = Date.now();
    const artifactId = await keep(run, "build", files);
    const record = (await find(artifactId))!;
    expect(record).to.include({ state: "stored", sizeBytes: PIECE_BYTES + 117, fileCount: 4, runId: run.runId });
    expect(record.expiresAt - record.storedAt!).to.equal(3_600_000);
    expect(record.storedAt).to.be.within(before, Date.now());

    const all = await pull(run, "build", { files: [0, 1, 2, 3] });
    expect(all.code, all.details).to.equal(status.OK);
    expect(all.found!.files.map(({ path, executable }) => [path, executable])).to.deep.equal([
      ["a.sh", true],
      ["empty", false],
      ["b/c", false],
      ["d", false],
    ]);
    expect(all.content.equals(Buffer.concat(Object.values(files)))).to.equal(true);
    const some = await pull(run, "build", { files: [0, 3], offset: PIECE_BYTES - 1 });
    expect(some.content.equals(Buffer.concat([files["a.sh"].subarray(PIECE_BYTES - 1), files.d]))).to.equal(true);
    for (const [positions, offset] of [
      [[4], 0],
      [[1, 0], 0],
      [[3], 8],
    ] as const) {
      expect((await pull(run, "build", { files: [...positions], offset })).code).to.equal(status.INVALID_ARGUMENT);
    }
  });

  it("keeps empty files, and compares their checksums too", async () => {
    const run = await running(rule("none"), rule("lie"));
    expect((await find(await keep(run, "none", { empty: new Uint8Array() })))!.state).to.equal("stored");
    const push = new ArtifactPush(gateway, agent);
    push.begin(run.stepRunId(), "lie", { empty: new Uint8Array() }, 1n, { sha256: sha256(Buffer.from("x")) });
    push.commit();
    expect((await push.ended()).details).to.include('the content of "empty" is not what it was begun with');
  });

  it("resumes an interrupted upload, and accepts pieces only in order", async () => {
    const run = await running(rule("build"));
    const content = randomBytes(3 * PIECE_BYTES + 5);
    const piece = (n: number): Uint8Array => content.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES);
    const cut = new ArtifactPush(gateway, agent);
    cut.begin(run.stepRunId(), "build", { content });
    cut.piece(0, piece(0));
    cut.piece(PIECE_BYTES, piece(1));
    expect(await cut.stored(1)).to.equal(0);
    expect(await cut.stored(3)).to.equal(2 * PIECE_BYTES);
    cut.cancel();

    for (const [offset, bytes] of [
      [3 * PIECE_BYTES, piece(3)],
      [2 * PIECE_BYTES, piece(2).subarray(1)],
      [PIECE_BYTES + 1, piece(2)],
      [4 * PIECE_BYTES, piece(0)],
    ] as const) {
      const wrong = new ArtifactPush(gateway, agent);
      wrong.begin(run.stepRunId(), "build", { content });
      wrong.piece(offset, bytes);
      expect((await wrong.ended()).details).to.include(`in order, from ${2 * PIECE_BYTES} on to ${content.length}`);
    }
    const early = new ArtifactPush(gateway, agent);
    early.begin(run.stepRunId(), "build", { content });
    early.commit();
    expect((await early.ended()).details).to.include("send the others first");

    const again = new ArtifactPush(gateway, agent);
    again.begin(run.stepRunId(), "build", { content });
    expect(await again.stored(1), "the piece is stored").to.equal(2 * PIECE_BYTES);
    again.piece(PIECE_BYTES, piece(1));
    again.piece(2 * PIECE_BYTES, piece(2));
    again.piece(3 * PIECE_BYTES, piece(3));
    again.commit();
    expect((await again.ended()).code).to.equal(status.OK);
    expect((await pull(run, "build")).content.equals(content)).to.equal(true);
    // A lost answer makes the agent repeat this.
    expect(await keep(run, "build", { content })).to.be.a("string").that.is.not.empty;
  });

  it("accepts the same artifact from several streams at the same time", async () => {
    const run = await running(rule("build"));
    const content = randomBytes(2 * PIECE_BYTES + 1);
    const ids = await Promise.all([1, 2, 3].map(() => keep(run, "build", { content })));
    expect(new Set(ids).size).to.equal(1);
    expect((await pull(run, "build")).content.equals(content)).to.equal(true);
  });

  it("drops an upload whose content does not match its begin", async () => {
    const run = await running(rule("build"));
    const push = new ArtifactPush(gateway, agent);
    push.begin(run.stepRunId(), "build", { good: randomBytes(10), bad: randomBytes(10) });
    push.piece(0, randomBytes(20));
    await push.stored(2);
    const { artifactId } = (await gateway.stores.artifacts.ofRun(run.runId))[0]!;
    push.commit();
    expect(await push.ended()).to.include({
      code: status.FAILED_PRECONDITION,
      details: 'the content of "good" is not what it was begun with: it has changed meanwhile',
    });
    expect(await find(artifactId)).to.equal(undefined);
    expect(await gateway.stores.blobs.storedBytes(artifactId)).to.equal(0);
    expect((await pull(run, "build")).code).to.equal(status.NOT_FOUND);
  });

  it("asks for the whole content again when stored pieces are damaged", async () => {
    const run = await running(rule("build"));
    const content = randomBytes(PIECE_BYTES + 1);
    const cut = new ArtifactPush(gateway, agent);
    cut.begin(run.stepRunId(), "build", { content });
    await cut.stored(1);
    cut.cancel();
    const { artifactId } = (await gateway.stores.artifacts.ofRun(run.runId))[0]!;
    await gateway.stores.blobs.put(artifactId, 0, Buffer.alloc(PIECE_BYTES));
    const again = new ArtifactPush(gateway, agent);
    again.begin(run.stepRunId(), "build", { content });
    expect(await again.stored(1)).to.equal(PIECE_BYTES);
    again.piece(PIECE_BYTES, content.subarray(PIECE_BYTES));
    again.commit();
    expect((await again.ended()).code).to.equal(status.UNAVAILABLE);
    await keep(run, "build", { content });
    expect((await pull(run, "build")).content.equals(content)).to.equal(true);
  });

  it("refuses agents that do not hold the step, and artifacts that it does not declare", async () => {
    const run = await running(rule("build"));
    const other = await gateway.register("other");
    const content = randomBytes(10);
    const refused = async (who: TestAgent, name: string, token: bigint): Promise<string> => {
      const push = new ArtifactPush(gateway, who);
      push.begin(run.stepRunId(), name, { content }, token);
      const { code, details } = await push.ended();
      expect(code).to.equal(status.FAILED_PRECONDITION);
      return details;
    };
    expect(await refused(other, "build", 1n)).to.include("does not hold step run");
    expect(await refused(agent, "build", 2n)).to.include("under token 2");
    expect(await refused(agent, "secrets", 1n)).to.include('declares no artifact "secrets"');
    const pushed = new ArtifactPush(gateway, agent);
    pushed.begin(run.stepRunId(), "build", { content });
    pushed.piece(0, content);
    await pushed.stored(2);
    await run.change({ job: 0, step: 0, state: { state: "failed" } });
    pushed.commit();
    expect((await pushed.ended()).details, "over since the beginning").to.include("or it is over");
    expect(await refused(agent, "build", 1n)).to.include("or it is over");
    expect((await pull(run, "build", { step: 0 })).details).to.include("or it is over");
    const user = await gateway.registrationToken();
    const asUser = new ArtifactPush(gateway, { ...agent, metadata: user });
    asUser.begin(run.stepRunId(), "build", { content });
    expect((await asUser.ended()).code).to.equal(status.PERMISSION_DENIED);
  });

  it("refuses paths out of the workspace, duplicates, invalid files and changed lists", async () => {
    const run = await running(rule("build"));
    const content = randomBytes(3);
    const refused = async (files: Record<string, Uint8Array>, changes: object = {}) => {
      const push = new ArtifactPush(gateway, agent);
      push.begin(run.stepRunId(), "build", files, 1n, changes);
      const { code, details } = await push.ended();
      expect([status.INVALID_ARGUMENT, status.FAILED_PRECONDITION], details).to.include(code);
      return details;
    };
    for (const path of [
      "../x",
      "/etc/passwd",
      "a/../../x",
      "a//b",
      "a/./b",
      "",
      "a\\..\\b",
      "a\0b",
      "a\nb",
      "x".repeat(1_025),
    ]) {
      expect(await refused({ [path]: content }), path).to.include("is no path within a workspace");
    }
    expect(await refused({ a: content, b: content }, { path: "same" })).to.include("has a file twice");
    expect(await refused({ a: content }, { sha256: "AB".repeat(32) })).to.include("has no SHA-256");
    expect(await refused({ a: content }, { sizeBytes: -1n })).to.include("sizeBytes");
    expect(await refused({})).to.include("has no files");
    const begun = new ArtifactPush(gateway, agent);
    begun.begin(run.stepRunId(), "build", { a: content });
    await begun.stored(1);
    begun.cancel();
    expect(await refused({ a: randomBytes(3) })).to.include("was begun with other files");
    const unordered = new ArtifactPush(gateway, agent);
    unordered.commit();
    expect((await unordered.ended()).code).to.equal(status.INVALID_ARGUMENT);
  });

  it("refuses files, artifacts and runs beyond the bounds before a byte is sent", async () => {
    const { maxFileBytes, maxArtifactBytes, maxRunBytes } = ARTIFACT_RULES;
    const run = await running(rule("a"), rule("b"), rule("c"));
    const refused = async (name: string, sizes: readonly number[]): Promise<string | undefined> => {
      const files = Object.fromEntries(sizes.map((_, at) => [`file-${at}`, new Uint8Array()]));
      const push = new ArtifactPush(gateway, agent);
      const manifest = Object.keys(files).map((path, at) => ({
        path,
        sizeBytes: BigInt(sizes[at]!),
        sha256: "0".repeat(64),
        executable: false,
      }));
      const value = { stepRunId: run.stepRunId(), token: 1n, name, files: manifest };
      push.send({ message: { $case: "begin", value } });
      await until("an answer", () => push.received.length > 0 || push.status);
      push.cancel();
      return push.status?.details;
    };
    expect(await refused("a", [maxFileBytes + 1])).to.include(`${maxFileBytes} are allowed for a file`);
    expect(await refused("a", [maxFileBytes, maxArtifactBytes - maxFileBytes + 1])).to.include(
      "allowed for an artifact",
    );
    expect(
      await refused(
        "a",
        Array.from({ length: 10_001 }, () => 0),
      ),
    ).to.include("10000 are allowed");
    expect(await refused("a", [maxFileBytes, maxArtifactBytes - maxFileBytes])).to.equal(undefined);
    expect(await refused("b", [maxRunBytes - maxArtifactBytes + 1])).to.include("the artifacts of run");
    expect(await refused("b", [maxRunBytes - maxArtifactBytes])).to.equal(undefined);
    expect(await refused("a", [maxFileBytes, maxArtifactBytes - maxFileBytes]), "one that is there").to.equal(
      undefined,
    );
  });

  it("stops counting the upload of a lost agent when its space is needed", async () => {
    const { maxArtifactBytes } = ARTIFACT_RULES;
    const files = { a: new Uint8Array(maxArtifactBytes / 2), b: new Uint8Array(maxArtifactBytes / 2) };
    const run = await running(rule("a"));
    const begins = async (job: number): Promise<boolean> => {
      const push = new ArtifactPush(gateway, agent);
      push.begin(run.stepRunId(job), "a", files);
      const stored = await push.stored(1);
      push.cancel();
      return stored === 0;
    };
    expect(await begins(0)).to.equal(true);
    expect(await begins(1)).to.equal(false);
    await run.change({ job: 0, step: 0, state: { state: "failed" } });
    expect(await begins(1)).to.equal(true);
  });

  it("asks for the job when several jobs have kept an artifact of the name", async () => {
    const run = await running(rule("build"));
    const [first, second] = [randomBytes(5), randomBytes(6)];
    await keep(run, "build", { first }, 0);
    expect((await pull(run, "build")).content.equals(first)).to.equal(true);
    await keep(run, "build", { second }, 1);
    expect((await pull(run, "build")).details).to.include("say which with `job`, out of job-0, job-1");
    expect((await pull(run, "build", { job: "job-1" })).content.equals(second)).to.equal(true);
    expect((await pull(run, "build", { job: "job-7" })).details).to.include('no job "job-7" of this run');
    expect((await pull(run, "other")).details).to.include("no job of this run has kept");
  });

  it("hands out no expired artifact, which the pruner deletes with its content", async () => {
    const run = await running(rule("short", { retentionMs: 1 }), rule("long"));
    const short = await keep(run, "short", { a: randomBytes(5) });
    const long = await keep(run, "long", { a: randomBytes(5) });
    const { expiresAt } = (await find(short))!;
    await until("its time is over", () => Date.now() > expiresAt);
    expect((await pull(run, "short")).code).to.equal(status.NOT_FOUND);
    expect(await pruneArtifacts(gateway.context, 100)).to.be.at.least(1);
    expect(await find(short)).to.equal(undefined);
    expect(await gateway.stores.blobs.read(short, 0, 5)).to.have.length(0);
    expect((await find(long))!.state).to.equal("stored");
    expect((await pull(run, "long")).content).to.have.length(5);
  });

  it("finishes an interrupted deletion, and drops abandoned uploads", async () => {
    const run = await running(rule("half"), rule("left"));
    const half = asId<ArtifactId>(await keep(run, "half", { a: randomBytes(5) }));
    await gateway.stores.artifacts.markDeleting(half, Number.MAX_SAFE_INTEGER);
    const push = new ArtifactPush(gateway, agent);
    push.begin(run.stepRunId(), "left", { a: randomBytes(PIECE_BYTES + 1) });
    push.piece(0, randomBytes(PIECE_BYTES));
    await push.stored(2);
    const left = (await gateway.stores.artifacts.ofRun(run.runId)).find(({ name }) => name === "left")!;
    const later = { ...gateway.context, clock: { ...gateway.context.clock, now: () => left.expiresAt } };
    await pruneArtifacts(later, 100);
    expect(await find(half)).to.equal(undefined);
    expect((await find(left.artifactId))!.expiresAt, "its step still runs").to.be.greaterThan(left.expiresAt);
    await run.change({ job: 0, step: 0, state: { state: "cancelled" } });
    const latest = { ...later, clock: { ...later.clock, now: () => left.expiresAt * 2 } };
    await pruneArtifacts(latest, 100);
    for (const id of [half, left.artifactId]) {
      expect(await find(id)).to.equal(undefined);
      expect(await gateway.stores.blobs.read(id, 0, 5)).to.have.length(0);
    }
    push.piece(PIECE_BYTES, randomBytes(1));
    expect((await push.ended()).details).to.include("begin again");
  });

  it("lists the files of a step run in pages", async () => {
    const run = await running(rule("a"), rule("b"));
    const files = (...names: string[]) => Object.fromEntries(names.map((name) => [name, Buffer.from(name)]));
    await keep(run, "a", files("1", "2", "3"));
    await keep(run, "b", files("4", "5"));
    const calls = await UserCalls.open(gateway.context, gateway.port);
    const page = async (number: number, pageSize: number) => {
      const request = { stepRunId: run.stepRunId(), page: number, pageSize };
      const { artifacts, total } = await calls.stepRun("listStepRunArtifacts", request);
      expect(total).to.equal(5n);
      for (const { path, sha256: hash, sizeBytes } of artifacts) {
        expect([hash, sizeBytes]).to.deep.equal([sha256(Buffer.from(path)), 1n]);
      }
      return artifacts.map(({ path }) => path).join("");
    };
    for (const [number, text] of ["12", "34", "5", ""].entries()) expect(await page(number + 1, 2)).to.equal(text);
    expect(await page(1, 100)).to.equal("12345");
    calls.close();
  });
});
