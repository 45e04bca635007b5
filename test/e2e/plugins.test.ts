/**
 * A Python plugin in a real installation: pushed, planned, fetched and run; also with bad packages and a bad network.
 */
import { randomBytes } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { writePackage } from "../../src/plugins/package.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { fileOf, greeter } from "../support/plugin-packages.ts";
import { ProcessWorld } from "../support/processes.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { WebSocket } from "ws";

const EXAMPLE = fileURLToPath(new URL("../../examples/plugins/json-patch", import.meta.url));
const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });
const on = (name: string): object => ({ agentSelector: { matchLabels: { name } } });

describe("a plugin", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let sha256: string;
  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    const dirs = join(world.folder, "own");
    await mkdir(join(dirs, "util"), { recursive: true });
    await cp(EXAMPLE, join(dirs, "util/own-patch"), { recursive: true });
    const manifest = join(dirs, "util/own-patch/plugin.yaml");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace("util/json-patch", "util/own-patch"));
    await installation.agent("one", undefined, { MILLRACE_AGENT_PLUGIN_DIRS: dirs });
    const pushed = await millrace("plugin", "push", EXAMPLE, "--server", `http://${installation.node.http}`);
    expect(pushed).to.match(/^util\/json-patch@1\.0\.0 is registered, SHA-256 [0-9a-f]{64}$/m);
    sha256 = /[0-9a-f]{64}/.exec(pushed)![0];
  });

  it("is listed, shown and deleted at the command line, of the installation, a tenant and a project", async () => {
    const folder = join(world.folder, "team-say");
    for (const { path, content } of greeter("1.0.0", { name: "team/say" })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    const env = { MILLRACE_URL: `http://${installation.node.http}`, MILLRACE_TOKEN: installation.adminToken };
    const command = async (...args: readonly string[]) => {
      const started = world.start(["plugin", ...args], { env });
      return { code: (await started.exited).code, stdout: started.stdout, stderr: started.stderr };
    };
    const pushed = await command("push", folder, "--project", "default", "--json");
    expect(JSON.parse(pushed.stdout)).to.include({ name: "team/say", scope: "project" });
    expect((await command("push", folder)).stdout).to.match(/^team\/say@1\.0\.0 is registered, SHA-256 /);
    expect((await command("push", folder, "--tenant", "default")).code).to.equal(0);
    const inherited = await command("list", "--project", "default", "--inherited");
    expect(inherited.stdout).to.match(
      /^NAME +NEWEST +VERSIONS +OF\nteam\/say +1\.0\.0 +1 +project default\nutil\/json-patch +1\.0\.0 +1 +installation\n$/,
    );
    const shown = await command("show", "team/say", "--tenant", "default");
    expect(shown.stdout).to.match(/^team\/say of tenant default: .*\nVERSION +BYTES .*\n1\.0\.0 /);
    for (const owner of [["--project", "default"], ["--tenant", "default"], []]) {
      expect((await command("delete", "team/say@1.0.0", ...owner)).stdout).to.equal("deleted team/say@1.0.0\n");
    }
    const gone = await command("list", "--name", "say", "--json");
    expect(JSON.parse(gone.stdout)).to.deep.equal([]);
    expect(await command("delete", "team/say@1.0.0", "--project", "default")).to.include({ code: 5 });
    const unclear = await command("delete", "team/say");
    expect([unclear.code, unclear.stderr]).to.deep.equal([
      2,
      "error: team/say: must be NAME@VERSION, such as util/json-patch@1.2.0; `millrace plugin show NAME` lists the versions\n",
    ]);
  });

  after(() => world?.end());

  const millrace = async (...args: readonly string[]): Promise<string> => {
    const program = world.start(args, { env: { MILLRACE_TOKEN: installation.adminToken } });
    await program.exited;
    return program.stdout + program.stderr;
  };
  const run = async (name: string, jobs: readonly object[]): Promise<string> =>
    (await installation.api.trigger(await installation.pipeline(name, jobs), {})).runId;
  const detailOf = async (runId: string) => (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
  const ended = (runId: string, deadlineMs = 60_000) =>
    until(
      `the end of ${runId}`,
      async () => {
        const detail = await detailOf(runId);
        return detail.endTime === null ? undefined : detail;
      },
      deadlineMs,
    );
  const push = async (packed: Uint8Array) => {
    const response = await fetch(`http://${installation.node.http}/api/v1/plugins`, {
      method: "POST",
      headers: { authorization: `Bearer ${installation.adminToken}`, "content-type": "application/gzip" },
      body: new Uint8Array(packed),
    });
    expect(response.status, await response.clone().text()).to.equal(200);
    return ((await response.json()) as { detail: { sha256: string } }).detail;
  };
  const cacheOf = (agent: string): string => join(world.folder, `agent-${agent}`, "plugins");
  const cached = async (agent: string): Promise<readonly string[]> =>
    (await readdir(cacheOf(agent)).catch(() => [])).filter((name) => !name.startsWith("."));
  const patch = (more: object = {}): object => ({
    id: "patch",
    uses: "util/json-patch@1",
    args: {
      file: "doc.json",
      patch: [
        { op: "add", path: "/b", value: [2] },
        { op: "add", path: "/b/-", value: "${{ trigger.kind }}" },
      ],
      ...more,
    },
  });
  /** Paths of the package files in the registry. */
  const packages = async (): Promise<readonly string[]> => {
    const found = await readdir(join(dataDir, "blobs"), { recursive: true, withFileTypes: true });
    return found.flatMap((entry) => (entry.name.startsWith("pkg_") ? [join(entry.parentPath, entry.name)] : []));
  };
  const document = say(`echo '{ "a": 1 }' > doc.json`);

  it("runs in the workspace with its arguments, and its log lines carry its exact version", async () => {
    const copy = join(world.folder, "doc.json");
    const runId = await run("applies", [
      {
        name: "work",
        ...on("one"),
        steps: [
          document,
          patch(),
          say(`test "$CHANGES" = 2 && cp doc.json ${copy}`, { env: { CHANGES: "${{ steps.patch.outputs.changes }}" } }),
        ],
      },
    ]);
    const detail = await ended(runId);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    expect(JSON.parse(await readFile(copy, "utf8"))).to.deep.equal({ a: 1, b: [2, "manual"] });
    expect(await cached("one")).to.deep.equal([sha256]);
    const { jobId, steps } = detail.jobs[0];
    const line = await firstLine({ pipelineId: detail.pipelineId, jobId, stepRunId: steps[1].stepRunId });
    expect(line).to.include({ content: "doc.json: 2 changes", plugin_name: "util/json-patch@1.0.0" });
  });

  const firstLine = (params: object): Promise<{ readonly content: string; readonly plugin_name: string }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${installation.adminToken}` };
      const socket = new WebSocket(`ws://${installation.node.http}/api/v1/ws`, { headers });
      socket.on("error", reject);
      socket.on("open", () => socket.send(JSON.stringify({ channel: "channel_log", params })));
      socket.on("message", (text: Buffer) => {
        const { type, data } = JSON.parse(text.toString()) as { type: string; data: never[] };
        if (type !== "log_chunk") return;
        socket.close();
        resolve(data[0]!);
      });
    });

  it("fails with its exit code, or when deferred arguments break its schema", async () => {
    const bad = await run("fails", [
      { name: "work", ...on("one"), steps: [document, patch({ patch: [{ op: "remove", path: "/none" }] })] },
    ]);
    expect((await ended(bad)).jobs[0].steps[1]).to.include({ status: "failed", exitCode: 1 });
    const late = await run("late", [
      {
        name: "work",
        ...on("one"),
        steps: [
          say(`echo 'patch={ "op": "add" }' >> "$MILLRACE_OUTPUT"`, { id: "made" }),
          patch({ patch: "${{ fromJSON(steps.made.outputs.patch) }}" }),
        ],
      },
    ]);
    const step = (await ended(late)).jobs[0].steps[1];
    expect(step.status).to.equal("failed");
    expect(step.reason).to.equal(
      "the arguments of util/json-patch@1.0.0 (apply) break its schema: patch must be array",
    );
  });

  it("comes from the operator's own folders when the registry has no plugin of that name", async () => {
    const runId = await run("own", [
      { name: "work", ...on("one"), steps: [document, { ...patch(), uses: "util/own-patch@v1.0" }] },
    ]);
    expect((await ended(runId)).status).to.equal("success");
    const other = await run("other", [
      { name: "work", ...on("one"), steps: [document, { ...patch(), uses: "util/own-patch@2" }] },
    ]);
    const { status, reason } = (await ended(other)).jobs[0].steps[1];
    expect(status).to.equal("failed");
    expect(reason).to.match(/^there is no plugin util\/own-patch@2: .* this agent has 1\.0\.0 in /);
  });

  it("is fetched again when its files on the agent were changed", async () => {
    const file = join(cacheOf("one"), sha256, "plugin/json_patch.py");
    await chmod(file, 0o644);
    await writeFile(file, "raise SystemExit('tampered')");
    const runId = await run("mended", [{ name: "work", ...on("one"), steps: [document, patch()] }]);
    expect((await ended(runId)).status).to.equal("success");
    expect(await readFile(file, "utf8")).to.equal(await readFile(join(EXAMPLE, "json_patch.py"), "utf8"));
  });

  it("of a project comes before that of the installation, and is fetched by the agent that runs its steps", async () => {
    const folder = join(world.folder, "of-project");
    const script = `echo "of the project" >> "${world.folder}/owned"`;
    for (const { path, content } of greeter("1.0.0", { name: "team/owned", script })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    await push(
      await writePackage(greeter("1.0.0", { name: "team/owned", script: script.replace("project", "installation") })),
    );
    const { projectId } = (await installation.call("POST", "/projects", { name: "Owner" })).body.detail;
    const server = ["--server", `http://${installation.node.http}`];
    const pushed = await millrace("plugin", "push", folder, "--project", "Owner", ...server);
    expect(pushed).to.include(`team/owned@1.0.0 is registered for project ${projectId}, SHA-256 `);
    expect(await millrace("plugin", "push", folder, "--project", "None", ...server)).to.include('project "None"');
    const body = { name: "owned", projectId };
    const { pipelineId } = (await installation.call("POST", "/pipelines", body)).body.detail;
    const steps = [{ uses: "team/owned@1", args: { to: "all" } }];
    await installation.api.saveSpec(pipelineId, { jobs: [{ name: "work", ...on("one"), steps }] });
    const detail = await ended((await installation.api.trigger(pipelineId, {})).runId);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    expect(await readFile(join(world.folder, "owned"), "utf8")).to.equal("of the project\n");
  });

  it("is not used when the registry's package has another checksum than the plan", async () => {
    const before = await packages();
    const files = (script: string) => greeter("1.0.0", { name: "team/tampered", script });
    const { sha256: tampered } = await push(
      await writePackage(files(": this one is the longer one of the two scripts")),
    );
    const [path] = (await packages()).filter((file) => !before.includes(file));
    const { length } = await readFile(path!);
    // The forged package has the original's length; readers ignore the bytes after the end of gzip data.
    const forged = await writePackage(files(`touch ${world.folder}/ran`));
    await writeFile(path!, Buffer.concat([forged, Buffer.alloc(length)]).subarray(0, length));
    const runId = await run("tampered", [
      { name: "work", ...on("one"), steps: [{ uses: "team/tampered@1", args: { to: "all" } }] },
    ]);
    const { status, reason } = (await ended(runId)).jobs[0].steps[0];
    expect(status).to.equal("failed");
    expect(reason).to.match(
      /^the package of team\/tampered@1\.0\.0 has the checksum [0-9a-f]{64}, and this run was planned with /,
    );
    expect(reason).to.include(tampered);
    expect(await readdir(world.folder)).not.to.include("ran");
    expect(await cached("one")).not.to.include(tampered);
  });

  it("has the same version in a rerun, even when a newer one was registered since", async () => {
    const script = (version: string): string => `echo "ran ${version}" >> "${world.folder}/versions"; exit 3`;
    const pushVersion = async (version: string) =>
      push(await writePackage(greeter(version, { name: "team/kept", script: script(version) })));
    await pushVersion("1.0.0");
    const jobs = [{ name: "work", ...on("one"), steps: [{ uses: "team/kept@1", args: { to: "all" } }] }];
    const first = await ended(await run("kept", jobs));
    await pushVersion("1.1.0");
    const path = `/pipelines/${first.pipelineId}/runs/${first.runId}/rerun`;
    const { runId } = (await installation.call("POST", path, { scope: "failed" })).body.detail;
    await ended(runId);
    await ended((await installation.api.trigger(first.pipelineId, {})).runId);
    expect(await readFile(join(world.folder, "versions"), "utf8")).to.equal("ran 1.0.0\nran 1.0.0\nran 1.1.0\n");
  });

  it("fails its steps with a reason when it is deleted after the run was planned", async () => {
    await push(await writePackage(greeter("1.0.0", { name: "team/gone" })));
    const runId = await run("gone", [
      { name: "work", ...on("one"), steps: [say("sleep 2"), { uses: "team/gone@1.0", args: { to: "all" } }] },
    ]);
    expect((await installation.call("DELETE", "/plugins/team/gone/versions/1.0.0")).status).to.equal(200);
    const { status, reason } = (await ended(runId)).jobs[0].steps[1];
    expect([status, reason]).to.deep.equal([
      "failed",
      "team/gone@1.0.0 was deleted from the registry after this run was planned",
    ]);
  });

  describe("over a slow network", () => {
    let proxy: TcpProxy;
    let large: string;
    before(async () => {
      proxy = await TcpProxy.start(installation.grpcPort);
      const files = [...greeter("1.0.0", { name: "team/large" }), fileOf("noise", randomBytes(8_000_000))];
      large = (await push(await writePackage(files))).sha256;
    });
    after(() => proxy?.close());
    const slowAgent = (name: string) => installation.agent(name, `127.0.0.1:${proxy.port}`);
    const use = (name: string): Promise<string> =>
      run(`large-${name}`, [
        { name: "work", ...on(name), agentLeaseTimeout: "10s", steps: [{ uses: "team/large@1", args: { to: "all" } }] },
      ]);
    /** Resolves when the job has its agent, which then fetches the plugin. */
    const untilFetching = (runId: string) =>
      until("the job's agent", async () => (await detailOf(runId)).jobs[0].status === "running");

    it("is fetched by the next process of an agent that was killed during the fetch", async () => {
      const agent = await slowAgent("killed");
      proxy.slowDown(100);
      const runId = await use("killed");
      await untilFetching(runId);
      agent.kill("SIGKILL");
      await agent.exited;
      expect(await cached("killed"), "the agent was killed during the fetch").to.deep.equal([]);
      proxy.slowDown(0);
      await slowAgent("killed");
      const detail = await ended(runId, 90_000);
      expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
      expect(await cached("killed")).to.deep.equal([large]);
    });

    it("is fetched on after a broken connection, and no further when the run is stopped", async () => {
      await slowAgent("cut");
      proxy.slowDown(20);
      const runId = await use("cut");
      await untilFetching(runId);
      expect(await cached("cut"), "the connection broke during the fetch").to.deep.equal([]);
      await proxy.goDown();
      await proxy.comeUp();
      proxy.slowDown(0);
      const detail = await ended(runId, 90_000);
      expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
      expect(detail.jobs[0].attempt).to.equal(1);

      await rm(join(cacheOf("cut"), large), { recursive: true });
      proxy.slowDown(100);
      const { runId: stopped } = await installation.api.trigger(detail.pipelineId, {});
      await untilFetching(stopped);
      await installation.api.stop(detail.pipelineId, stopped, "enough");
      expect((await ended(stopped)).status).to.equal("cancelled");
      expect(await cached("cut")).to.deep.equal([]);
    });
  });
});
