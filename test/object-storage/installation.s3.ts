/**
 * An installation whose content is in an object storage: an upload, an artifact, a cache and a log are read back although
 * the node was killed and the storage was away.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { ObjectClient } from "../../src/stores/objects/object-client.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { startTestObjectStorage, type TestObjectStorage } from "./storage.ts";
import { ProcessWorld } from "../support/processes.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const MIB = 1 << 20;
/** `OBJECT_STORAGE=whole`: as long as an operator would notice. */
const AWAY_MS = process.env["OBJECT_STORAGE"] === "whole" ? 60_000 : 3_000;
const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("an installation with an object storage", function () {
  this.timeout(300_000);
  let world: ProcessWorld;
  let storage: TestObjectStorage;
  let proxy: TcpProxy;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let env: Record<string, string>;

  before(async () => {
    [world, storage] = await Promise.all([ProcessWorld.create(), startTestObjectStorage()]);
    proxy = await TcpProxy.start(storage.port);
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    env = {
      ...storage.credentials,
      MILLRACE_OBJECT_STORAGE: `s3://${storage.bucket}/an/installation`,
      MILLRACE_OBJECT_STORAGE_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
      MILLRACE_OBJECT_STORAGE_LOGS: "1s",
    };
    await installation.serve(dataDir, env);
    await installation.agent("one");
  });
  after(async () => {
    await world?.end();
    await proxy?.close();
    await storage?.stop();
  });

  const restart = async (more: Record<string, string> = {}): Promise<void> => {
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir, { ...env, ...more });
  };
  const fetchFrom = (path: string, options: RequestInit = {}) =>
    fetch(`http://${installation.node.http}/api/v1${path}`, {
      ...options,
      headers: { authorization: `Bearer ${installation.adminToken}`, ...(options.headers as Record<string, string>) },
    });
  const bytesOf = async (path: string): Promise<Buffer> => {
    const answer = await fetchFrom(path);
    expect(answer.status, path).to.equal(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const sendPart = (uploadId: string, offset: number, bytes: Uint8Array) =>
    fetchFrom(`/projects/default/uploads/${uploadId}/content`, {
      method: "PATCH",
      headers: { "content-type": "application/offset+octet-stream", "upload-offset": `${offset}` },
      body: new Uint8Array(bytes),
    });
  const ended = (runId: string) =>
    until(
      `the end of ${runId}`,
      async () => {
        const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
        return detail.endTime === null ? undefined : detail;
      },
      AWAY_MS + 90_000,
    );
  const trigger = async (name: string, steps: readonly object[]): Promise<string> => {
    const pipelineId = await installation.pipeline(name, [{ name: "build", steps }]);
    return (await installation.api.trigger(pipelineId, {})).runId;
  };
  const artifactOf = async (runId: string): Promise<string> => {
    const { list } = (await installation.call("GET", `/pipelines/runs/${runId}/artifacts`)).body.detail;
    expect(list).to.have.length(1);
    return `/pipelines/runs/${runId}/artifacts/${list[0].artifactId}/content`;
  };
  const pathOfLog = ({
    pipelineId,
    runId,
    jobs,
  }: {
    pipelineId: string;
    runId: string;
    jobs: readonly any[];
  }): string => `/pipelines/${pipelineId}/runs/${runId}/steps/${jobs[0].steps.at(-1).stepRunId}/logs`;
  /** What `seq 1 COUNT` wrote. */
  const countsIn = (text: string): readonly string[] => text.split("\n").filter((line) => /^\d+$/.test(line));
  const counted = (most: number): readonly string[] => Array.from({ length: most }, (_, at) => `${at + 1}`);
  const objectsOfLogs = async (): Promise<number> => {
    const client = new ObjectClient({ ...storage.place(), prefix: "an/installation/" });
    let count = 0;
    for await (const _ of client.list("blobs/log_")) count++;
    client.close();
    return count;
  };
  const coldChunks = (): number => {
    const store = new SqliteConnection(join(dataDir, "millrace.db"));
    try {
      const row = store.prepare("SELECT count(*) AS n FROM log_chunks WHERE substr(body, 1, 1) = '{'").get();
      return (row as { readonly n: number }).n;
    } finally {
      store.close();
    }
  };
  const readiness = async (): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`http://${installation.node.http}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };

  it("continues an upload after its edge was killed, and sends it as it was", async () => {
    const content = randomBytes(11 * MIB + 123);
    const begun = await installation.call("POST", "/projects/default/uploads", { name: "a.bin", size: content.length });
    const { uploadId } = begun.body.detail;
    expect((await sendPart(uploadId, 0, content.subarray(0, 3 * MIB))).status).to.equal(200);
    const second = await sendPart(uploadId, 3 * MIB, content.subarray(3 * MIB, 9 * MIB));
    expect(second.headers.get("upload-offset")).to.equal(`${9 * MIB}`);
    await restart();
    const { offset } = (await installation.call("GET", `/projects/default/uploads/${uploadId}`)).body.detail;
    expect(offset, "what was acknowledged is there").to.equal(9 * MIB);
    const last = await sendPart(uploadId, offset, content.subarray(offset));
    const { detail } = (await last.json()) as { detail: { status: string; sha256: string } };
    expect(detail).to.include({ status: "stored", sha256: sha256(content) });
    await restart();
    expect(sha256(await bytesOf(`/projects/default/uploads/${uploadId}/content`))).to.equal(sha256(content));
    const files = await readdir(join(dataDir, "blobs"), { recursive: true }).catch(() => []);
    expect(files, "nothing is kept as files").to.deep.equal([]);
  });

  it("keeps an artifact, a cache and a log while the node is killed and the storage is away", async () => {
    const early = await ended(await trigger("early", [say("seq 1 30000", { name: "count" })]));
    await until("the object of the log", async () => (await objectsOfLogs()) > 0, 60_000);
    await restart();
    await until("the log is in the storage alone", () => coldChunks() > 0, 60_000);
    expect(countsIn((await bytesOf(`${pathOfLog(early)}/text`)).toString())).to.deep.equal(counted(30_000));
    await restart();

    const deps = { id: "deps", name: "deps", uses: "cache", args: { key: "deps-1", paths: ["deps"] } };
    const steps = [
      deps,
      say("mkdir -p deps && echo kept > deps/file && seq 1 2000 && head -c 9437184 /dev/zero | tr '\\0' x > big", {
        name: "make",
        artifacts: [{ name: "big", paths: ["big"] }],
      }),
    ];
    await proxy.goDown();
    const runId = await trigger("away", steps);
    await sleep(AWAY_MS);
    const upload = await installation.call("POST", "/projects/default/uploads", { name: "b", size: 3 });
    const refused = await sendPart(upload.body.detail.uploadId, 0, Buffer.from("abc"));
    expect(refused.status).to.equal(503);
    expect(await refused.text())
      .to.include("cannot be reached (ECONN")
      .and.include("check its address and the network");
    const away = await readiness();
    expect(away.status, away.text).to.equal(200);
    for (const rest of ["?tail=3", "/text", "/search?q=77"]) {
      const unread = await fetchFrom(`${pathOfLog(early)}${rest}`);
      expect(unread.status, rest).to.equal(503);
      expect(await unread.text(), rest).to.include("check its address and the network");
    }
    const live = await ended(await trigger("live", [say("seq 1 50", { name: "count" })]));
    expect(countsIn((await bytesOf(`${pathOfLog(live)}/text`)).toString()), "logs of now").to.deep.equal(counted(50));
    expect(away.text).to.include("object-storage").and.include("cannot be reached");
    await restart();
    await proxy.comeUp();
    const detail = await ended(runId);
    expect(detail.status, JSON.stringify(detail)).to.equal("success");
    expect((await sendPart(upload.body.detail.uploadId, 0, Buffer.from("abc"))).status).to.equal(200);

    await restart();
    const big = await bytesOf(await artifactOf(runId));
    expect([big.length, sha256(big)]).to.deep.equal([9 * MIB, sha256(Buffer.alloc(9 * MIB, "x"))]);
    expect(countsIn((await bytesOf(`${pathOfLog(early)}/text`)).toString())).to.deep.equal(counted(30_000));
    expect(countsIn((await bytesOf(`${pathOfLog(detail)}/text`)).toString()), "the log").to.deep.equal(counted(2_000));
    const again = await ended(await trigger("again", [deps, say('test "$(cat deps/file)" = kept', { name: "use" })]));
    expect(again.status, JSON.stringify(again)).to.equal("success");
    const metrics = await (await fetch(`http://${installation.node.metrics}/metrics`)).text();
    expect(metrics).to.match(/millrace_object_storage_call_seconds_count\{operation="GetObject"\} [1-9]/);
    expect((await readiness()).text).not.to.include("cannot be reached");
    const output = installation.node.process.stdout + installation.node.process.stderr;
    expect(output).not.to.include(storage.credentials.AWS_SECRET_ACCESS_KEY);
  });

  it("lets users fetch content from the storage after their rights were checked, if it is told to", async () => {
    const runId = await trigger("direct", [
      say("printf 'the content' > 'a file.html'", { artifacts: [{ name: "one", paths: ["*.html"] }] }),
    ]);
    await ended(runId);
    const path = await artifactOf(runId);
    await restart({ MILLRACE_OBJECT_STORAGE_DOWNLOADS: "direct" });
    const answer = await fetchFrom(path, { redirect: "manual" });
    expect(answer.status).to.equal(307);
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    const location = answer.headers.get("location")!;
    expect(new URL(location).host).to.equal(`127.0.0.1:${proxy.port}`);
    const fetched = await fetch(location);
    expect(await fetched.text()).to.equal("the content");
    expect(fetched.headers.get("content-disposition")).to.include('filename="a file.html"');
    const part = await fetchFrom(path, { headers: { range: "bytes=4-" } });
    expect([part.status, await part.text()]).to.deep.equal([206, "content"]);
    const known = await fetchFrom(path, { headers: { "if-none-match": answer.headers.get("etag")! } });
    expect(known.status).to.equal(304);
    const unknown = await fetch(`http://${installation.node.http}/api/v1${path}`, { redirect: "manual" });
    expect([unknown.status, unknown.headers.get("location")]).to.deep.equal([401, null]);
  });

  it("moves its logs back into the store, although the command is killed, and does without the storage then", async () => {
    const cold = coldChunks();
    const detail = await ended(await trigger("leaving", [say("seq 1 30000", { name: "count" })]));
    await until("the log is in the storage", () => coldChunks() > cold, 60_000);
    const settings = { ...env, MILLRACE_OBJECT_STORAGE_LOGS: "off" };
    await restart({ MILLRACE_OBJECT_STORAGE_LOGS: "off" });
    const command = () => world.start(["object-storage", "return-logs", "--data-dir", dataDir], { env: settings });
    proxy.slowDown(1_000);
    const sent = proxy.sentBytes;
    const killed = command();
    await until("the command reads objects", () => proxy.sentBytes > sent, 30_000);
    killed.kill("SIGKILL");
    await killed.exited;
    proxy.slowDown(0);
    expect(coldChunks(), "nothing came so far").to.be.above(cold);
    const done = command();
    expect((await done.exited).code, done.stderr).to.equal(0);
    expect(done.stdout).to.match(/^[1-9]\d* logs are in the store again, [1-9]\d* bytes; 0 are left\n$/);
    expect(coldChunks()).to.equal(0);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir, {});
    expect(countsIn((await bytesOf(`${pathOfLog(detail)}/text`)).toString())).to.deep.equal(counted(30_000));
  });
});
