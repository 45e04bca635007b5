/**
 * Artifacts in a real installation: one agent stores them, another fetches them, users read them over HTTP, and nodes
 * and agents die.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const MB = 1_000_000;
const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });
const on = (name: string): object => ({ agentSelector: { matchLabels: { name } } });

describe("an artifact", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir, { MILLRACE_ARTIFACT_RETENTION: "1h" });
    await Promise.all([installation.agent("one"), installation.agent("two")]);
  });
  after(() => world?.end());

  const run = async (name: string, jobs: readonly object[]): Promise<string> => {
    const pipelineId = await installation.pipeline(name, jobs);
    return (await installation.api.trigger(pipelineId, {})).runId;
  };
  const ended = (runId: string, deadlineMs = 60_000) =>
    until(
      `the end of ${runId}`,
      async () => {
        const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
        return detail.endTime === null ? undefined : detail;
      },
      deadlineMs,
    );
  const listOf = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}/artifacts`)).body.detail.list;
  const fetchContent = (runId: string, artifactId: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`http://${installation.node.http}/api/v1/pipelines/runs/${runId}/artifacts/${artifactId}/content${path}`, {
      headers: { authorization: `Bearer ${installation.adminToken}`, ...headers },
    });
  const blobs = async (): Promise<readonly string[]> => {
    const found = await readdir(join(dataDir, "blobs"), { recursive: true, withFileTypes: true }).catch(() => []);
    return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };

  it("passes from a job on one agent to a job on another, with every byte and file mode", async () => {
    const sums = join(world.folder, "sums");
    const runId = await run("handover", [
      {
        name: "build",
        ...on("one"),
        steps: [
          say(
            `mkdir -p "dist/deep folder" && cd dist && head -c 3000001 /dev/urandom > big.bin && : > empty &&
             printf '#!/bin/sh\\necho ran' > "deep folder/tool ✓" && chmod +x "deep folder/tool ✓" && echo no > notes.txt &&
             ln -s big.bin link.bin && sha256sum big.bin > ${sums}`,
            { artifacts: [{ name: "build", paths: ["dist", "!**/*.txt"] }] },
          ),
        ],
      },
      {
        name: "deploy",
        needs: ["build"],
        ...on("two"),
        steps: [
          { uses: "artifact", args: { name: "build", path: "in" } },
          say(`cd in/dist && sha256sum -c ${sums} && cmp big.bin link.bin && test -f empty && test ! -s empty &&
               test ! -e notes.txt && "./deep folder/tool ✓"`),
          { uses: "artifact@v1", args: { name: "build", job: "build", paths: ["**/tool*"], path: "only" } },
          say(`test "$(find only -type f | wc -l)" = 1`),
        ],
      },
    ]);
    const detail = await ended(runId);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    const [artifact, ...others] = await listOf(runId);
    expect(others).to.deep.equal([]);
    expect(artifact).to.include({ name: "build", job: "build", size: 6_000_002 + 18, fileCount: 4 });
    const described = await installation.call("GET", `/pipelines/runs/${runId}/artifacts/${artifact.artifactId}`);
    expect(described.body.detail.files.map((file: { path: string }) => file.path)).to.deep.equal([
      "dist/big.bin",
      "dist/deep folder/tool ✓",
      "dist/empty",
      "dist/link.bin",
    ]);
    const { sha256 } = described.body.detail.files[0];
    expect(await readFile(sums, "utf8")).to.equal(`${sha256}  big.bin\n`);

    const whole = await fetchContent(runId, artifact.artifactId, "/dist/big.bin");
    expect(whole.status).to.equal(200);
    expect(whole.headers.get("etag")).to.equal(`"${sha256}"`);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(createHash("sha256").update(bytes).digest("hex")).to.equal(sha256);
    const part = await fetchContent(runId, artifact.artifactId, "/dist/big.bin", { range: "bytes=262100-600000" });
    expect(part.status).to.equal(206);
    expect(part.headers.get("content-range")).to.equal("bytes 262100-600000/3000001");
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(262_100, 600_001))).to.equal(true);
    const tool = await fetchContent(
      runId,
      artifact.artifactId,
      `/dist/deep%20folder/tool%20${encodeURIComponent("✓")}`,
    );
    expect(tool.headers.get("content-disposition"))
      .to.include("attachment")
      .and.include("filename*=UTF-8''tool%20%E2%9C%93");
    expect(await tool.text()).to.equal("#!/bin/sh\necho ran");
  });

  it("is named by its cell, by a cell that is made during the run, and by an output; so are the paths of reports", async () => {
    const junit = "<testsuite><testcase name='t'/></testsuite>";
    const cell = (name: string, needs: readonly string[], axis: unknown, keep: object) => ({
      name,
      ...(needs.length > 0 && { needs }),
      matrix: { axes: { os: axis } },
      steps: [say(`mkdir -p out/$OS && echo $OS > out/$OS/name && echo "${junit}" > $OS.xml`, keep)],
      env: { OS: "${{ matrix.os }}" },
    });
    const of = (prefix: string) => ({
      artifacts: [{ name: `${prefix}\${{ matrix.os }}`, paths: ["out/${{ matrix.os }}/*"] }],
      reports: { junit: ["${{ matrix.os }}.xml"] },
    });
    const runId = await run("named", [
      {
        name: "which",
        outputs: { list: "${{ steps.s.outputs.list }}", folder: "${{ steps.s.outputs.folder }}" },
        steps: [say(`echo 'list=["bsd","qnx"]' >> $MILLRACE_OUTPUT; echo folder=.. >> $MILLRACE_OUTPUT`, { id: "s" })],
      },
      cell("known", [], ["linux", "macos"], of("site-")),
      cell("late", ["which"], "${{ fromJSON(jobs.which.outputs.list) }}", of("${{ trigger.kind }}-")),
      {
        name: "take",
        needs: ["known", "late"],
        steps: [
          { uses: "artifact", args: { name: "site-macos", path: "in" } },
          { uses: "artifact", args: { name: "manual-qnx", path: "in" } },
          say(`test "$(cat in/out/macos/name)" = macos && test "$(cat in/out/qnx/name)" = qnx`),
        ],
      },
      {
        name: "out",
        needs: ["which"],
        continueOnError: true,
        steps: [say("true", { artifacts: [{ name: "x", paths: ["${{ jobs.which.outputs.folder }}/y"] }] })],
      },
    ]);
    const detail = await ended(runId);
    const jobs = detail.jobs as readonly { name: string; status: string; steps: readonly { reason: string }[] }[];
    expect(
      jobs.filter(({ status: ofJob }) => ofJob !== "success").map(({ name }) => name),
      JSON.stringify(jobs),
    ).to.deep.equal(["out"]);
    expect(jobs.find(({ name }) => name === "out")!.steps[0]!.reason).to.include(
      "path 1 of artifact 1 would lead out of the workspace",
    );
    const kept = (await listOf(runId)) as readonly { name: string; job: string }[];
    expect(kept.map(({ name, job }) => `${name} of ${job}`)).to.have.members([
      "site-linux of known (os=linux)",
      "site-macos of known (os=macos)",
      "manual-bsd of late (os=bsd)",
      "manual-qnx of late (os=qnx)",
    ]);
    expect(detail.tests).to.include({ total: 4, failed: 0 });
  });

  it("continues its upload and its download after the node dies during them", async () => {
    const sums = join(world.folder, "cut");
    const runId = await run("cut", [
      {
        name: "build",
        ...on("one"),
        steps: [
          say(`head -c ${20 * MB} /dev/urandom > large.bin && sha256sum large.bin > ${sums}`, {
            artifacts: [{ name: "large", paths: ["large.bin"] }],
          }),
        ],
      },
      {
        name: "check",
        needs: ["build"],
        ...on("two"),
        steps: [{ uses: "artifact", args: { name: "large" } }, say(`sha256sum -c ${sums}`)],
      },
    ]);
    const partOf = async () => {
      const part = (await blobs()).find((name) => name.endsWith(".part"));
      return part && join(dataDir, "blobs", part.slice(-7, -5), part);
    };
    const storedAtDeath = await until("a part of the upload", async () => {
      const part = await partOf();
      const size = part === undefined ? 0 : (await stat(part).catch(() => ({ size: 0 }))).size;
      return size > 2 * MB ? size : undefined;
    });
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    expect(storedAtDeath).to.be.lessThan(20 * MB);
    expect(await partOf(), "the node was killed during the upload").to.be.a("string");
    await installation.serve(dataDir, { MILLRACE_ARTIFACT_RETENTION: "1h" });
    const work = join(world.folder, "agent-two", "work");
    await until(
      "a part of the download",
      async () => {
        const entries = await readdir(work, { recursive: true }).catch(() => []);
        const part = entries.find((name) => name.endsWith(".part"));
        return part !== undefined && (await stat(join(work, part)).catch(() => ({ size: 0 }))).size > 2 * MB;
      },
      60_000,
    );
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir, { MILLRACE_ARTIFACT_RETENTION: "1h" });
    const detail = await ended(runId, 120_000);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    expect(detail.jobs.map(({ attempt }: { attempt: number }) => attempt)).to.deep.equal([1, 1]);
    const [{ artifactId, size }] = await listOf(runId);
    expect(size).to.equal(20 * MB);
    const content = Buffer.from(await (await fetchContent(runId, artifactId, "")).arrayBuffer());
    expect(await readFile(sums, "utf8")).to.include(createHash("sha256").update(content).digest("hex"));
    expect((await blobs()).filter((name) => name.endsWith(".part"))).to.deep.equal([]);
  });

  it("follows its definition when no file matches, a link leads outside, or the step fails", async () => {
    const job = (name: string, script: string, artifact: object): object => ({
      name,
      steps: [say(script, { artifacts: [{ name, ...artifact }] })],
    });
    const runId = await run("bad", [
      job("missing", "true", { paths: ["nothing/*", "none"] }),
      job("warned", "true", { paths: ["nothing"], ifMissing: "warn" }),
      job("ignored", "true", { paths: ["nothing"], ifMissing: "ignore" }),
      job("outside", "ln -s /etc/hostname leak", { paths: ["leak"] }),
      job("failing", "echo red > report && exit 3", { paths: ["report"] }),
      { name: "unknown", steps: [{ uses: "artifact", args: { name: "never kept" } }] },
      { name: "away", steps: [{ uses: "artifact", args: { name: "x", path: "../.." } }] },
    ]);
    const detail = await ended(runId);
    const outcomes = detail.jobs.map((job: { name: string; status: string; steps: { reason: string }[] }) =>
      [job.name, job.status, job.steps[0]!.reason].join(": "),
    );
    expect(outcomes).to.deep.equal([
      'missing: failed: the artifact "missing" cannot be kept: no file matches "nothing/*", "none"',
      "warned: success: ",
      "ignored: success: ",
      'outside: failed: the artifact "outside" cannot be kept: "leak" leads out of the workspace',
      "failing: failed: exit code 3",
      'unknown: failed: no job of this run has kept an artifact "never kept", or it has expired',
      'away: failed: no job of this run has kept an artifact "x", or it has expired',
    ]);
    expect((await listOf(runId)).map(({ name }: { name: string }) => name)).to.deep.equal(["failing"]);
  });

  it("has a counterpart that users send, which continues after the node is killed, and which steps of a run fetch", async () => {
    const content = randomBytes(6 * MB);
    const sum = createHash("sha256").update(content).digest("hex");
    const at = "/projects/default/uploads";
    const begun = await installation.call("POST", at, { name: "firmware.bin", size: content.length, sha256: sum });
    const { uploadId } = begun.body.detail;
    const offset = async (): Promise<number> =>
      (await installation.call("GET", `${at}/${uploadId}`)).body.detail.offset;
    const send = (from: number, body: Buffer | ReadableStream) =>
      fetch(`http://${installation.node.http}/api/v1${at}/${uploadId}/content`, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${installation.adminToken}`,
          "content-type": "application/offset+octet-stream",
          "upload-offset": `${from}`,
        },
        body,
        duplex: "half",
      });
    // A body that never ends, so that the node is killed before it has all.
    const half = new ReadableStream({ start: (to) => to.enqueue(content.subarray(0, 3 * MB)) });
    const cut = send(0, half).catch((error: Error) => error);
    const before = await until("half of the content", async () => (await offset()) > 2.5 * MB && (await offset()));
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    expect(await cut).to.be.an("error");
    await installation.serve(dataDir, { MILLRACE_ARTIFACT_RETENTION: "1h" });
    const from = await offset();
    expect(from)
      .to.be.at.least(before as number)
      .and.at.most(3 * MB);
    const { detail } = (await (await send(from, content.subarray(from))).json()) as { detail: object };
    expect(detail).to.include({ status: "stored", sha256: sum });

    const pipelineId = await installation.pipeline("flash", [
      {
        name: "flash",
        steps: [
          { uses: "upload", args: { name: "FIRMWARE", path: "images" } },
          say('echo "$SUM  images/firmware.bin" | sha256sum --check', {
            env: { SUM: "${{ trigger.uploads.FIRMWARE.sha256 }}" },
          }),
        ],
      },
    ]);
    const uploads = { FIRMWARE: uploadId };
    const { runId } = (await installation.call("POST", `/pipelines/${pipelineId}/trigger`, { uploads })).body.detail;
    const run = await ended(runId);
    expect(run.status, JSON.stringify(run.jobs)).to.equal("success");
    expect(run.uploads.FIRMWARE).to.deep.equal({ uploadId, name: "firmware.bin", size: content.length, sha256: sum });
    const again = await installation.call("POST", `/pipelines/${pipelineId}/runs/${runId}/rerun`, { scope: "all" });
    expect((await ended(again.body.detail.runId)).status).to.equal("success");
  });

  it("does not delay the end of a run that is stopped during the upload", async () => {
    const runId = await run("stopped", [
      {
        name: "build",
        steps: [say(`head -c ${120 * MB} /dev/zero > large`, { artifacts: [{ name: "a", paths: ["large"] }] })],
      },
    ]);
    await until("a part of the upload", async () => (await blobs()).some((name) => name.endsWith(".part")), 60_000);
    const { pipelineId } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
    const stoppedAt = performance.now();
    await installation.call("POST", `/pipelines/${pipelineId}/runs/${runId}/stop`, {});
    const detail = await ended(runId);
    expect(detail.status).to.equal("cancelled");
    expect(detail.jobs[0].steps[0].status).to.equal("cancelled");
    expect(performance.now() - stoppedAt).to.be.lessThan(5_000);
    expect(await listOf(runId)).to.deep.equal([]);
  });

  it("is uploaded by the next attempt of the job when the agent dies during the upload", async () => {
    const agent = await installation.agent("mortal");
    const runId = await run("mortal", [
      {
        name: "build",
        agentSelector: { matchExpressions: [{ key: "name", operator: "In", values: ["mortal"] }] },
        agentLeaseTimeout: "10s",
        steps: [say(`head -c ${120 * MB} /dev/zero > large`, { artifacts: [{ name: "a", paths: ["large"] }] })],
      },
    ]);
    const partsBefore = (await blobs()).filter((name) => name.endsWith(".part")).length;
    await until(
      "a part of the upload",
      async () => (await blobs()).filter((name) => name.endsWith(".part")).length > partsBefore,
    );
    agent.kill("SIGKILL");
    await agent.exited;
    await installation.agent("mortal");
    const detail = await ended(runId, 90_000);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    expect(detail.jobs[0].attempt).to.equal(2);
    const list = await listOf(runId);
    expect(list).to.have.length(1);
    expect(list[0]).to.include({ size: 120 * MB, jobId: detail.jobs[0].jobId });
  });

  it("is available to a rerun that does not repeat the job that stored it", async () => {
    const mark = join(world.folder, "mark");
    const first = await run("again", [
      {
        name: "build",
        ...on("one"),
        steps: [say("echo built > out", { artifacts: [{ name: "out", paths: ["out"] }] })],
      },
      {
        name: "deploy",
        needs: ["build"],
        ...on("two"),
        steps: [{ uses: "artifact", args: { name: "out" } }, say(`test "$(cat out)" = built && test -f ${mark}`)],
      },
    ]);
    const { status, pipelineId } = await ended(first);
    expect(status).to.equal("failed");
    await writeFile(mark, "");
    const again = await installation.call("POST", `/pipelines/${pipelineId}/runs/${first}/rerun`, { scope: "failed" });
    const { runId } = again.body.detail;
    expect((await ended(runId)).status).to.equal("success");
    const [artifact] = await listOf(runId);
    expect(artifact).to.include({ name: "out", runId: first });
    expect(await (await fetchContent(runId, artifact.artifactId, "")).text()).to.equal("built\n");
  });

  it("is deleted with its content when its retention ends", async () => {
    installation.node.kill("SIGTERM");
    await installation.node.exited;
    await installation.serve(dataDir, { MILLRACE_ARTIFACT_RETENTION: "1s" });
    const before = await blobs();
    const runId = await run("short", [
      {
        name: "build",
        steps: [
          say("echo x > out", {
            artifacts: [
              { name: "out", paths: ["out"] },
              { name: "kept", paths: ["out"], retention: "1h" },
            ],
          }),
        ],
      },
    ]);
    expect((await ended(runId)).status).to.equal("success");
    const added = async () => (await blobs()).filter((name) => !before.includes(name));
    await until("one of two is deleted", async () => (await added()).length === 1, 30_000);
    expect((await listOf(runId)).map(({ name }: { name: string }) => name)).to.deep.equal(["kept"]);
  });
});
