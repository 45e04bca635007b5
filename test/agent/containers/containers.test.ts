/**
 * Steps in real containers, where Podman can run them: the promises of steps hold inside. `CONTAINERS=whole` fails without an
 * engine, and adds the tests that take longer.
 */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect } from "chai";
import type { Container, Dispatch, Service } from "../../../proto/generated/agent/v1/agent.ts";
import { Container as ContainerMessage, Service as ServiceMessage } from "../../../proto/generated/agent/v1/agent.ts";
import { agentLabel } from "../../../src/agent/containers/job-containers.ts";
import { agentKeyOf } from "../../../src/agent/containers/open-engine.ts";
import {
  DATABASE_IMAGE,
  makeDatabaseImage,
  openTestEngine,
  SERVICE_IMAGE,
  TEST_IMAGE,
} from "../../support/container-engine.ts";
import { greeter } from "../../support/plugin-packages.ts";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "../test-agent.ts";

const isWhole = process.env["CONTAINERS"] === "whole";
const engine = await openTestEngine();
if (engine === undefined && isWhole)
  throw new Error(
    "no container engine works here: install Podman (or Docker, with CONTAINER_ENGINE=docker) and busybox-static",
  );

/** Defines a test of the long form alone. */
const itWhole: (title: string, test: () => Promise<void>) => void = isWhole ? it : () => {};

const container = (fields: Partial<Container> = {}) => ContainerMessage.create({ image: TEST_IMAGE, ...fields });
const service = (fields: Partial<Service>) => ServiceMessage.create({ image: SERVICE_IMAGE, ...fields });

if (engine !== undefined)
  describe("a job in a container", function () {
    this.timeout(120_000);
    let bench: AgentBench;
    beforeEach(async () => {
      bench = await new AgentBench().open();
      await bench.start({ containers: { engine: engine.kind, images: [] } });
    });
    afterEach(async () => {
      await bench.end();
      expect(await leftOf(bench.dataDir), "what is left of its containers and networks").to.equal("");
    });

    async function step(number: number, fields: Partial<Dispatch> & { script?: string }) {
      const stepRunId = `step_${number}`;
      bench.gateway.dispatch({ stepRunId, token: BigInt(number), ...fields });
      const end = await bench.gateway.endOf(stepRunId);
      const log = (await bench.gateway.logOf(end.lastLine, stepRunId)).map(({ content }) => content);
      return { end, log };
    }
    const containers = async () => {
      const filter = ["--filter", `label=${agentLabel(agentKeyOf(bench.dataDir))}`];
      return (await engine.ask("ps", "-q", ...filter)).split("\n").filter(Boolean);
    };

    it("tells its agents by a label", () => {
      expect(bench.gateway.hellos[0]!.labels).to.include({ "container-engine": engine.kind });
    });

    it("shares one container, its workspace and its files, and passes outputs, summary and exit code on", async () => {
      const first = await step(1, {
        container: container({
          env: [
            { name: "FROM", value: "container" },
            { name: "LEVEL", value: "container" },
          ],
        }),
        env: [
          { name: "LEVEL", value: "step 'one'" },
          { name: "LINES", value: "a\nb" },
        ],
        script: `
          echo "in $(pwd) as $(id -u), $FROM, $LEVEL"; echo to stderr >&2
          printf '%s' "$LINES" >lines; touch /marker
          echo "version=1.2" >>"$MILLRACE_OUTPUT"; echo "# hi" >>"$MILLRACE_SUMMARY"
          [ -z "$HOSTNAME_OF_AGENT" ] && exit 3`,
      });
      expect(first.end, `${first.end.reason}; ${first.log.join(" | ")}`).to.deep.include({
        phase: "STEP_PHASE_FAILED",
        exitCode: 3,
        reason: "exit code 3",
        outputs: { version: "1.2" },
      });
      expect(first.end.notes?.summary?.markdown).to.equal("# hi\n");
      expect(first.log.join("\n")).to.match(/the image \S+ is \S*sha256:[0-9a-f]{64}/);
      expect(first.log).to.include.members([
        `in ${join(bench.dataDir, "work/job_1")} as 0, container, step 'one'`,
        "to stderr",
      ]);
      const second = await step(2, { container: container(), script: "cat lines; echo; ls /marker" });
      expect(second.log, second.end.reason).to.deep.equal(["a", "b", "/marker"]);
      const beside = await step(3, { script: "cat lines; echo; ls /marker 2>/dev/null || echo outside" });
      expect(beside.log, beside.end.reason).to.deep.equal(["a", "b", "outside"]);
      expect(await containers(), await engine.ask("ps", "--all")).to.have.length(1);
      bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: true } });
      await until("the end of the container", async () => (await containers()).length === 0);
    });

    it("leaves the containers of the same job of another agent to that agent", async () => {
      const first = await step(1, { container: container(), script: "echo begun" });
      expect(first.log.at(-1), first.end.reason).to.equal("begun");
      const before = await containers();
      expect(before).to.have.length(1);
      const other = await new AgentBench().open();
      try {
        await other.start({ containers: { engine: engine.kind, images: [] } });
        other.gateway.dispatch({ container: container(), script: "true" });
        await other.gateway.endOf();
        expect(await leftOf(other.dataDir)).not.to.equal("");
        other.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: true } });
        await until("the end of its container", async () => (await leftOf(other.dataDir)) === "");
      } finally {
        await other.end();
      }
      expect(await containers()).to.deep.equal(before);
    });

    it("ends a cancelled step inside: SIGTERM first, and SIGKILL after the grace", async () => {
      const polite = "trap 'echo asked; exit 9' TERM; echo begun; while :; do sleep 0.1; done";
      bench.gateway.dispatch({ container: container(), script: polite });
      await bench.gateway.logOf(2n);
      const revoke = { jobId: "job_1", stepRunId: "step_1", token: 1n, graceMs: 20_000n, reason: "stop" };
      bench.gateway.send({ $case: "revoke", value: revoke });
      const end = await bench.gateway.endOf();
      expect(end).to.include({ phase: "STEP_PHASE_CANCELLED", exitCode: 9, reason: "stop" });
      const sleep = sleepOf(300);
      bench.gateway.dispatch({
        stepRunId: "step_2",
        token: 2n,
        container: container(),
        script: `trap '' TERM; setsid env -i ${sleep} & ${sleep}`,
      });
      await until("both processes", async () => (await processesWith(sleep)).length >= 2);
      bench.gateway.send({ $case: "revoke", value: { ...revoke, stepRunId: "step_2", token: 2n, graceMs: 300n } });
      expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_CANCELLED" });
      expect(await processesWith(sleep)).to.deep.equal([]);
      expect((await step(3, { container: container(), script: "echo still here" })).log).to.deep.equal(["still here"]);
    });

    itWhole("runs a plugin whose manifest names an image in its container, and refuses it outside of one", async () => {
      const folder = join(bench.dataDir, "plugins-of-the-operator");
      for (const { path, content } of greeter("1.0.0", { script: 'cat; echo " by $(readlink /proc/1/exe)"' })) {
        const place = join(folder, "team/greet", path);
        await mkdir(dirname(place), { recursive: true });
        const text = content.toString();
        const isManifest = path === "plugin.yaml";
        await writeFile(place, isManifest ? JSON.stringify({ ...JSON.parse(text), image: TEST_IMAGE }) : text);
      }
      await bench.restart({ containers: { engine: engine.kind, images: [] }, pluginDirs: [folder] });
      const plugin = { uses: "team/greet@1.0.0", argsJson: JSON.stringify({ to: "Ann" }) };
      const inside = await step(1, { ...plugin, container: container() });
      expect(inside.log.at(-1), inside.end.reason).to.equal('{"to":"Ann"} by /bin/busybox');
      const outside = await step(2, plugin);
      expect(outside.end.reason).to.include(`runs in the image ${TEST_IMAGE}, and this step has no container`);
    });

    itWhole("leaves no process of a step to the next one", async () => {
      const sleep = sleepOf(301);
      await step(1, {
        container: container(),
        script: `setsid env -i ${sleep} >/dev/null 2>&1 & until pidof sleep; do sleep 0.05; done`,
      });
      expect(await processesWith(sleep)).to.deep.equal([]);
    });

    it("shows no secret in what the engine stores, or in the list of processes", async () => {
      const secret = "hunter2-of-the-container";
      bench.gateway.dispatch({
        container: container({ env: [{ name: "OF_CONTAINER", value: secret }] }),
        services: [
          service({
            name: "db",
            env: [
              { name: "PASSWORD", value: secret },
              { name: "X", value: "y" },
            ],
          }),
        ],
        env: [{ name: "OF_STEP", value: secret }],
        secrets: [secret],
        script: `echo "$OF_CONTAINER $OF_STEP"; ${sleepOf(302)}`,
      });
      await until("the step", async () => (await processesWith(sleepOf(302))).length > 0);
      const stored = await engine.ask("inspect", ...(await containers()));
      expect(stored).to.include("millrace.job").and.not.to.include(secret);
      expect(await processesWith(secret)).to.deep.equal([]);
      bench.gateway.send({ $case: "refuse", value: { stepRunId: "step_1", token: 1n } });
      bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
      await until("the end of the containers", async () => (await containers()).length === 0);
    });

    it("lets a user of the image write, and gives the files to the agent's user afterwards", async () => {
      const { log } = await step(1, {
        container: container({ user: "app" }),
        script: 'id -u; mkdir out; echo x >out/file; echo a=1 >>"$MILLRACE_OUTPUT"',
      });
      expect(log.at(-1), log.join("\n")).to.equal("1234");
      for (const name of ["work/job_1", "work/job_1/out", "work/job_1/out/file"]) {
        expect((await stat(join(bench.dataDir, name))).uid, name).to.equal(process.geteuid!());
      }
      expect(bench.gateway.reports.at(-1)!.outputs).to.deep.equal({ a: "1" });
      expect(await readFile(join(bench.dataDir, "work/job_1/out/file"), "utf8")).to.equal("x\n");
    });

    itWhole("holds a step to its memory and its processes, and says why it ended", async () => {
      const hog = container({ memoryBytes: 32n * 1024n * 1024n, pids: 24 });
      const { end } = await step(1, { container: hog, script: "tail /dev/zero" });
      expect(end).to.include({ phase: "STEP_PHASE_FAILED" });
      expect(end.reason).to.match(/^out_of_memory: /);
      const bomb = await step(2, {
        container: hog,
        script: "i=0; while [ $i -lt 60 ]; do sleep 100 & i=$((i + 1)); done; true",
      });
      expect(bomb.log.join("\n")).to.match(/can't fork|Resource temporarily unavailable/);
      expect((await step(3, { container: hog, script: "echo well" })).log).to.deep.equal(["well"]);
    });

    it("reaches a healthy service by its name, and by the ports of this machine outside of containers", async () => {
      const web = service({
        name: "web",
        env: [
          { name: "TEXT", value: "hello" },
          { name: "PASSWORD", value: "hunter22-of-the-service" },
        ],
        ports: [8080],
        health: {
          command: "wget -qO /dev/null http://127.0.0.1:8080/env",
          intervalMs: 100n,
          timeoutMs: 5_000n,
          retries: 50,
        },
      });
      const script = 'wget -qO- "http://$MILLRACE_SERVICE_WEB_HOST:$MILLRACE_SERVICE_WEB_PORT/env"; sleep 0.2';
      const secrets = ["hunter22-of-the-service"];
      const inside = await step(1, {
        container: container(),
        services: [web],
        secrets,
        // Also while the engine's name server does not know the service yet: here no name server answers.
        script: `echo nameserver 127.0.0.1 >/etc/resolv.conf; echo "$MILLRACE_SERVICE_WEB_HOST"; ${script}`,
      });
      expect(inside.log).to.include.members(["millrace: web | begun", "web", "TEXT=hello", "PASSWORD=***"]);
      const outside = await step(2, {
        jobId: "job_2",
        services: [web],
        script: script.replace("wget -qO-", "curl -sS"),
      });
      expect(outside.log).to.include.members(["TEXT=hello", "PASSWORD=hunter22-of-the-service"]);
    });

    itWhole("uses a database that is healthy before it begins, and gone with its job", async () => {
      await makeDatabaseImage(engine);
      const driver = createRequire(import.meta.url).resolve("mongodb");
      const program = `
        const { MongoClient } = require(${JSON.stringify(driver)});
        const { MILLRACE_SERVICE_DB_HOST: host, MILLRACE_SERVICE_DB_PORT: port } = process.env;
        (async () => {
          const client = await MongoClient.connect("mongodb://" + host + ":" + port);
          const names = client.db("test").collection("names");
          await names.insertOne({ _id: 1, name: "millrace" });
          console.log((await names.findOne({ _id: 1 })).name, await names.countDocuments());
          await client.close();
        })();`;
      // BusyBox looks no port up, and the kernel lists those that are listened on, as hexadecimal digits.
      const health = {
        command: "grep -q ':6989 ' /proc/net/tcp /proc/net/tcp6",
        intervalMs: 200n,
        timeoutMs: 5_000n,
        retries: 100,
      };
      const database = service({ name: "db", image: DATABASE_IMAGE, ports: [27_017], health });
      const { end, log } = await step(1, {
        services: [database],
        argsJson: JSON.stringify({ command: process.execPath, args: ["-e", program] }),
      });
      expect(end.phase, log.join("\n")).to.equal("STEP_PHASE_SUCCEEDED");
      expect(log.at(-1)).to.equal("millrace 1");
      bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: true } });
      await until("the end of the database", async () => (await containers()).length === 0);
    });

    itWhole("goes on in another container when the engine's client is killed during a step", async () => {
      const sleep = sleepOf(303);
      bench.gateway.dispatch({ container: container(), script: `touch kept; ${sleep}` });
      await until("the step", async () => (await processesWith(sleep)).length > 0);
      for (const pid of await processesWith("millrace-ready")) if (await isClient(pid)) process.kill(pid, "SIGKILL");
      expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_FAILED" });
      expect(await processesWith(sleep)).to.deep.equal([]);
      expect((await step(2, { container: container(), script: "ls" })).log).to.include("kept");
    });

    itWhole("fails with the words of a service that does not start", async () => {
      const broken = service({
        name: "db",
        health: { command: "false", intervalMs: 100n, timeoutMs: 5_000n, retries: 2 },
      });
      const { end } = await step(1, { container: container(), services: [broken], script: "true" });
      expect(end).to.include({ phase: "STEP_PHASE_FAILED" });
      expect(end.reason).to.match(/the service db .*(?:healthy|ended)/);
    });

    itWhole(
      "fails for an image that it does not have and may not pull, and for one that its operator does not allow",
      async () => {
        const absent = container({ image: "localhost/none:1", pull: "PULL_POLICY_NEVER" });
        expect((await step(1, { container: absent, script: "true" })).end.reason).to.include(
          "does not have the image localhost/none:1",
        );
        await bench.restart({ containers: { engine: engine.kind, images: ["registry.example/*"] } });
        const { end } = await step(2, { container: container(), script: "true" });
        expect(end.reason).to.equal(
          `this agent may not use the image ${TEST_IMAGE}: its operator allows registry.example/*`,
        );
      },
    );
  });

/** The containers and networks of an agent. */
async function leftOf(dataDir: string): Promise<string> {
  const filter = ["-q", "--filter", `label=${agentLabel(agentKeyOf(dataDir))}`];
  return (await engine!.ask("ps", "-a", ...filter)) + (await engine!.ask("network", "ls", ...filter));
}

/** The engine's client of a container: its process inside says the same word. */
async function isClient(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8")).startsWith(`${engine!.kind}\0run`);
}

if (engine !== undefined)
  describe("an agent whose jobs have containers", function () {
    this.timeout(120_000);
    let bench: AgentBench;
    beforeEach(async () => (bench = await new AgentBench().open()));
    afterEach(() => bench.end());
    const left = () => leftOf(bench.dataDir);

    for (const [signal, words] of [
      ["SIGKILL", "is killed"],
      ["SIGSTOP", "is stopped for longer than the lease of the job"],
    ] as const) {
      itWhole(`leaves no container, service or network when it ${words}`, async () => {
        const agent = await bench.spawn([], [engine.kind]);
        const sleep = sleepOf(304);
        bench.gateway.dispatch({
          leaseMs: 3_000n,
          container: container(),
          services: [service({ name: "web" })],
          script: sleep,
        });
        await until("the step", async () => (await processesWith(sleep)).length > 0, 60_000);
        process.kill(agent.pid!, signal);
        await until("the end of the process inside", async () => (await processesWith(sleep)).length === 0, 30_000);
        await until("the end of the containers", async () => (await left()) === "", 60_000);
        if (signal === "SIGSTOP") process.kill(agent.pid!, "SIGCONT");
      });
    }

    itWhole("removes at its start what is left of an agent that was killed together with its guard", async () => {
      const agent = await bench.spawn([], [engine.kind]);
      bench.gateway.dispatch({ services: [service({ name: "web" })], script: "true" });
      await bench.gateway.endOf();
      const guards = await processesWith("millrace-guard", agent.pid!);
      expect(guards).to.have.length(1);
      process.kill(agent.pid!, "SIGKILL");
      // With its timers.
      process.kill(-guards[0]!, "SIGKILL");
      await until("the end of the agent", async () => (await processesWith(bench.dataDir)).length === 0);
      expect(await left()).not.to.equal("");
      await bench.start({ containers: { engine: engine.kind, images: [] } });
      expect(await left()).to.equal("");
    });
  });
