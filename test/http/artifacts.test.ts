import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import type { StepState } from "../../actors/step/state.ts";
import { bytesOfFiles, PIECE_BYTES } from "../../src/domain/artifacts.ts";
import { artifactIdOf, asId, newId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import { readRange } from "../../src/http/request/byte-range.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

interface TestRun {
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
}

describe("artifacts over HTTP", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const newRun = async (): Promise<TestRun> => {
    const { body } = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    const { pipelineId } = body.detail;
    const spec = { jobs: [{ name: "build", steps: [{ name: "compile", uses: "shell", args: { script: "true" } }] }] };
    await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec } });
    const triggered = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} });
    const runId = asId<RunId>(triggered.body.detail.runId);
    const { actors } = (await edge.context.stores.aggregates.load(runId))!;
    const step = actors.find(({ kind }) => kind === "step")!.state as StepState;
    return { runId, stepRunId: step.stepRunId };
  };

  /** Stores artifacts as a gateway does. */
  const keep = async ({ runId, stepRunId }: TestRun, name: string, contents: Record<string, Uint8Array>) => {
    const { artifacts, blobs } = edge.context.stores;
    const artifactId = artifactIdOf(runId, stepRunId, 1, name);
    const files = Object.entries(contents).map(([path, content]) => ({
      path,
      sizeBytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
      executable: false,
    }));
    const all = Buffer.concat(Object.values(contents));
    const now = Date.now();
    const sizes = { sizeBytes: bytesOfFiles(files), fileCount: files.length, storedAt: null, expiresAt: now + 60_000 };
    const record = { artifactId, runId, stepRunId, token: 1, name, createdAt: now, files, ...sizes };
    await artifacts.begin({ ...record, state: "uploading" }, Infinity);
    for (let at = 0; at < all.length; at += PIECE_BYTES) {
      await blobs.put(artifactId, at, all.subarray(at, at + PIECE_BYTES));
    }
    if (all.length > 0) await blobs.complete(artifactId, all.length);
    await artifacts.store(artifactId, now, now + 60_000);
    return artifactId;
  };
  const at = (runId: string, rest = "") => `/api/v1/pipelines/runs/${runId}/artifacts${rest}`;
  const content = async (
    runId: string,
    artifactId: string,
    path = "",
    headers: Record<string, string> = {},
    method = "GET",
  ) => {
    const response = await fetch(edge.origin + at(runId, `/${artifactId}/content${path}`), {
      method,
      headers: { authorization: `Bearer ${edge.adminToken}`, ...headers },
    });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it("lists and describes complete artifacts, and none that is being sent or has expired", async () => {
    const run = await newRun();
    expect((await edge.call("GET", at(run.runId))).body.detail).to.deep.equal({
      list: [],
      total: 0,
      totalIsExact: true,
      next: null,
      page: 1,
      pageSize: 20,
    });
    const build = await keep(run, "build", { "dist/a": Buffer.from("aaa"), b: Buffer.from("") });
    await keep(run, "report", { r: Buffer.from("rr") });
    await edge.context.stores.artifacts.begin(
      {
        ...(await edge.context.stores.artifacts.find(build))!,
        artifactId: artifactIdOf(run.runId, run.stepRunId, 1, "on its way"),
        name: "on its way",
        state: "uploading",
      },
      Infinity,
    );
    const { detail } = (await edge.call("GET", at(run.runId))).body;
    expect(detail.total).to.equal(2);
    expect(detail.list[0]).to.include({
      artifactId: build,
      name: "build",
      job: "build",
      step: "compile",
      stepRunId: run.stepRunId,
      size: 3,
      fileCount: 2,
    });
    expect((await edge.call("GET", at(run.runId, "?page=2&pageSize=1"))).body.detail.list[0].name).to.equal("report");
    expect((await edge.call("GET", at(run.runId, "?name=report"))).body.detail.total).to.equal(1);
    expect((await edge.call("GET", at(run.runId, "?what=1"))).status).to.equal(400);
    const described = (await edge.call("GET", at(run.runId, `/${build}`))).body.detail;
    expect(described.files.map(({ path, size }: { path: string; size: number }) => [path, size])).to.deep.equal([
      ["dist/a", 3],
      ["b", 0],
    ]);
    edge.skewMs = 61_000;
    expect((await edge.call("GET", at(run.runId))).body.detail.total).to.equal(0);
    expect((await edge.call("GET", at(run.runId, `/${build}`))).status).to.equal(404);
    expect((await content(run.runId, build, "/dist/a")).status).to.equal(404);
  });

  it("answers content as a whole and in byte ranges", async () => {
    const run = await newRun();
    const bytes = randomBytes(PIECE_BYTES + 1_000);
    const id = await keep(run, "big", { before: randomBytes(77), "big.bin": bytes, after: randomBytes(5) });
    const get = (range?: string) => content(run.runId, id, "/big.bin", range === undefined ? {} : { range });
    const whole = await get();
    expect(whole.status).to.equal(200);
    expect(whole.bytes.equals(bytes)).to.equal(true);
    expect(whole.headers.get("content-length")).to.equal(`${bytes.length}`);
    expect(whole.headers.get("accept-ranges")).to.equal("bytes");
    expect(whole.headers.get("content-type")).to.equal("application/octet-stream");
    expect(whole.headers.get("x-content-type-options")).to.equal("nosniff");
    const last = bytes.length - 1;
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 0],
      [`bytes=${PIECE_BYTES - 80}-${PIECE_BYTES}`, PIECE_BYTES - 80, PIECE_BYTES],
      ["bytes=1000-", 1_000, last],
      ["bytes=-10", last - 9, last],
      ["bytes=-999999999", 0, last],
      [`bytes=${last}-999999999`, last, last],
    ] as const) {
      const part = await get(range);
      expect(part.status, range).to.equal(206);
      expect(part.headers.get("content-range"), range).to.equal(`bytes ${from}-${to}/${bytes.length}`);
      expect(part.bytes.equals(bytes.subarray(from, to + 1)), range).to.equal(true);
    }
    for (const range of [`bytes=${bytes.length}-`, "bytes=-0", "bytes=999999999-"]) {
      const none = await get(range);
      expect(none.status, range).to.equal(416);
      expect(none.headers.get("content-range"), range).to.equal(`bytes */${bytes.length}`);
      expect(JSON.parse(none.bytes.toString()).reason).to.equal("range_not_satisfiable");
    }
    for (const range of ["bytes=0-1,3-4", "lines=1-2", "bytes=5-1", "bytes=a-b", "bytes=-"]) {
      expect((await get(range)).status, range).to.equal(200);
    }
  });

  it("answers HEAD, and requests for unchanged content, without a body", async () => {
    const run = await newRun();
    const id = await keep(run, "one", { file: Buffer.from("content") });
    const head = await content(run.runId, id, "", {}, "HEAD");
    expect(head).to.include({ status: 200 });
    expect(head.headers.get("content-length")).to.equal("7");
    const etag = head.headers.get("etag")!;
    expect(etag).to.equal(`"${createHash("sha256").update("content").digest("hex")}"`);
    expect((await content(run.runId, id, "", { "if-none-match": etag })).status).to.equal(304);
    expect((await content(run.runId, id, "", { "if-none-match": `"x", W/${etag}` })).status).to.equal(304);
    expect((await content(run.runId, id, "", { "if-none-match": '"x"' })).status).to.equal(200);
    const same = await content(run.runId, id, "", { range: "bytes=0-1", "if-range": etag });
    expect([same.status, same.bytes.toString()]).to.deep.equal([206, "co"]);
    const other = await content(run.runId, id, "", { range: "bytes=0-1", "if-range": '"other"' });
    expect([other.status, other.bytes.toString()]).to.deep.equal([200, "content"]);
    expect(other.headers.get("content-range")).to.equal(null);
  });

  it("answers empty files", async () => {
    const run = await newRun();
    const id = await keep(run, "empty", { file: new Uint8Array() });
    const whole = await content(run.runId, id);
    expect([whole.status, whole.bytes.length, whole.headers.get("content-length")]).to.deep.equal([200, 0, "0"]);
    expect((await content(run.runId, id, "", { range: "bytes=0-" })).status).to.equal(416);
  });

  it("encodes file names so that no name becomes a header or a path", async () => {
    const run = await newRun();
    const names = ['quo"te; x=y.txt', "ü ✓.txt", "percent%2e%2e.txt", "semi;colon"];
    const id = await keep(run, "names", Object.fromEntries(names.map((name) => [`d/${name}`, Buffer.from(name)])));
    for (const name of names) {
      const file = await content(run.runId, id, `/d/${encodeURIComponent(name)}`);
      expect(file.status, name).to.equal(200);
      expect(file.bytes.toString()).to.equal(name);
      expect(file.headers.get("content-disposition"), name).to.match(
        /^attachment; filename=("(?:[^"\\]|\\.)*"|[\w.-]+)(; filename\*=UTF-8''[\w.%-]+)?$/,
      );
    }
    for (const path of ["/d/../../../../etc/passwd", "/%2e%2e/secret", "/d%2f..%2fx", "/nothing", "/d"]) {
      expect((await content(run.runId, id, path)).status, path).to.equal(404);
    }
    const unnamed = await content(run.runId, id);
    expect(unnamed.status).to.equal(409);
    expect(JSON.parse(unnamed.bytes.toString()).msg ?? unnamed.bytes.toString()).to.include(
      "4 files: name one of them",
    );
  });

  it("shows under a run only its own artifacts", async () => {
    const [one, other] = [await newRun(), await newRun()];
    const id = await keep(one, "build", { file: Buffer.from("x") });
    expect((await edge.call("GET", at(other.runId, `/${id}`))).status).to.equal(404);
    expect((await content(other.runId, id)).status).to.equal(404);
    expect((await edge.call("DELETE", at(other.runId, `/${id}`))).status).to.equal(404);
    expect((await edge.call("GET", at(newId("run")))).status).to.equal(404);
    expect((await content(one.runId, id)).status).to.equal(200);
  });

  it("lets viewers read, lets maintainers delete, and refuses calls without a token", async () => {
    const run = await newRun();
    const id = await keep(run, "build", { file: Buffer.from("x") });
    const { token: viewer } = await edge.userWithRole("viewer");
    const { token: operator } = await edge.userWithRole("operator");
    const { token: maintainer } = await edge.userWithRole("maintainer");
    expect((await edge.call("GET", at(run.runId), { token: viewer })).body.detail.total).to.equal(1);
    expect((await content(run.runId, id, "", { authorization: `Bearer ${viewer}` })).status).to.equal(200);
    for (const path of ["", `/${id}`, `/${id}/content`]) {
      expect((await edge.call("GET", at(run.runId, path), { token: null })).status, path).to.equal(401);
    }
    expect((await edge.call("DELETE", at(run.runId, `/${id}`), { token: operator })).status).to.equal(403);
    expect((await edge.call("DELETE", at(run.runId, `/${id}`), { token: maintainer })).status).to.equal(200);
    expect((await edge.call("DELETE", at(run.runId, `/${id}`), { token: maintainer })).status).to.equal(404);
    expect((await content(run.runId, id)).status).to.equal(404);
    expect(await edge.context.stores.blobs.read(id, 0, 1)).to.have.length(0);
  });

  it("answers an error before the first byte when the content is missing", async () => {
    const run = await newRun();
    const id = await keep(run, "build", { file: Buffer.from("x") });
    await edge.context.stores.blobs.delete(id);
    const gone = await content(run.runId, id);
    expect(gone.status).to.equal(404);
    expect(gone.bytes.toString()).to.include("is gone");
  });

  it("reads the header Range as RFC 9110 defines it", () => {
    expect(readRange("bytes=2-5", 10)).to.deep.equal({ from: 2, to: 5 });
    expect(readRange("bytes= 2 - 5 ", 10)).to.deep.equal({ from: 2, to: 5 });
    expect(readRange("", 10)).to.equal(undefined);
    expect(() => readRange("bytes=0-", 0)).to.throw("has 0 bytes");
  });
});
