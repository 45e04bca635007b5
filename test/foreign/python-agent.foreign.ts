/**
 * Tests the agent in Python with the conformance suite, and the suite with agents that each do one thing wrong. Needs python3
 * with venv and a package index, so it is not part of `npm test`.
 */
import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { AgentClient } from "../../proto/generated/agent/v1/agent.ts";
import { ApiClient } from "../../src/cli/api-client.ts";
import { until } from "../support/until.ts";
import { ProcessWorld } from "../support/processes.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = join(ROOT, "examples/python-agent");
/** The virtual environment, which is kept between runs. */
const VENV = join(ROOT, "node_modules/.cache/millrace/python-agent");
const PYTHON = join(VENV, "bin/python");

interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cases: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
}

/** A fault that is put into the agent by replacing `old`, and a part of the name of the case that must find it. */
const FAULTS: readonly (readonly [fault: string, old: string, instead: string, only: string])[] = [
  ["forgets what it has started", "if entry is not None:", "if False:", "starts a step once"],
  [
    "ignores refusals",
    'self.steps[key].end(pb.STEP_PHASE_LOST, "the control plane has given the step up", 0)',
    "pass",
    "whose token is refused",
  ],
  ["does not watch its leases", 'step.end(pb.STEP_PHASE_LOST, "the lease has run out", 0)', "pass", "lease runs out"],
  ["does not send lines again", 'log["sent"] = 0  # All lines are sent again', "pass  #", "connection is lost"],
  ["keeps workspaces", "shutil.rmtree(self.workspace(job_id)", "id(self.workspace(job_id)", "removes it when"],
  ["kills at once", 'self.request(b"T" if grace_s > 0 else b"K")', 'self.request(b"K")', "asks a cancelled step"],
  [
    "spares what a step has started",
    "os.killpg(child.pid, number)",
    "os.kill(child.pid, number)",
    "all processes that it started",
  ],
  [
    "leaves its steps behind",
    "        kill(signal.SIGKILL)\n\n    threading",
    "\n    threading",
    "leaves no step behind",
  ],
  ["does not drain", "self.send(drain=pb.Drain())", "pass", "takes no more jobs"],
  ["calls a timeout a failure", "pb.STEP_PHASE_TIMED_OUT", "pb.STEP_PHASE_FAILED", "at its timeout"],
  ["loses outputs", "report.outputs[name] = value", "pass", "MILLRACE_OUTPUT"],
  ["knows every `uses`", 'dispatch.uses not in ("shell", "shell@v1")', "False", "does not know"],
];

describe("an agent in Python", function () {
  this.timeout(600_000);
  let world: ProcessWorld;
  before(async () => {
    await run("python3", ["-m", "venv", VENV]);
    await run(PYTHON, ["-m", "pip", "install", "--quiet", "-r", join(EXAMPLE, "requirements.txt")]);
  });
  beforeEach(async () => void (world = await ProcessWorld.create()));
  afterEach(() => world.end());

  /** Installs the agent with its stubs, as the README of the example says. `alter` changes its source. */
  async function install(alter: (source: string) => string = (source) => source): Promise<string> {
    const folder = join(world.folder, "python-agent");
    await cp(EXAMPLE, folder, { recursive: true });
    const file = join(folder, "millrace_agent.py");
    await writeFile(file, alter(await readFile(file, "utf8")));
    await mkdir(join(folder, "stubs"), { recursive: true });
    await run(
      PYTHON,
      [
        "-m",
        "grpc_tools.protoc",
        "-I",
        join(ROOT, "proto"),
        `--python_out=${join(folder, "stubs")}`,
        `--grpc_python_out=${join(folder, "stubs")}`,
        "agent/v1/agent.proto",
        "gateway/v1/gateway.proto",
      ],
      { cwd: folder },
    );
    return file;
  }

  async function conform(
    file: string,
    options: readonly string[] = [],
    pull = false,
  ): Promise<{ code: number | null; report: Report }> {
    // HOME is the one variable that a step has from its agent's environment. By it, a step that is left behind can be found
    // and ended.
    const env = { HOME: world.folder, PULL: pull ? "1" : "" };
    const suite = world.start(["agent-conformance", "--json", ...options, "--", PYTHON, file], { env });
    const { code } = await suite.exited;
    expect(suite.stdout, suite.stderr).to.match(/^\{/);
    return { code, report: JSON.parse(suite.stdout) as Report };
  }

  it("passes every case", async () => {
    const { code, report } = await conform(await install());
    expect(report.cases.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(report.passed).to.be.at.least(19);
  });

  it("passes every case for agents that pull, when it uses calls alone", async () => {
    const { code, report } = await conform(await install(), ["--mode", "pull"], true);
    expect(report.cases.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(report).to.include({ skipped: 2 });
    expect(report.passed).to.be.at.least(17);
  });

  it("keeps its place and gets what asks for trusted labels, while another boot greets with its token", async () => {
    const file = await install();
    const admin = "an-administrator-token-for-this-test";
    const registration = "a-registration-token-for-this-test";
    const env = { MILLRACE_BOOTSTRAP_TOKEN: admin, MILLRACE_REGISTRATION_TOKEN: registration };
    const node = await world.serve("edge,gateway,worker", { env });
    const data = join(world.folder, "python-data");
    const agent = spawn(PYTHON, [file], {
      stdio: "ignore",
      env: {
        PATH: process.env["PATH"],
        HOME: world.folder,
        MILLRACE_GATEWAY: node.grpc!,
        MILLRACE_REGISTRATION_TOKEN: registration,
        MILLRACE_DATA_DIR: data,
      },
    });
    try {
      const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
        const response = await fetch(`http://${node.http}/api/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        });
        return ((await response.json()) as { readonly detail: T }).detail;
      };
      type Agents = { readonly list: readonly { readonly agentId: string; readonly online: boolean }[] };
      const online = () => call<Agents>("GET", "/agents").then(({ list }) => list.find((each) => each.online));
      const { agentId } = await until("the agent is online", online);
      await call("PUT", `/agents/${agentId}/labels`, { labels: { pool: "production" } });

      const client = new AgentClient(node.grpc!, credentials.createInsecure());
      const bearer = new Metadata();
      const { token } = JSON.parse(await readFile(join(data, "identity"), "utf8")) as { readonly token: string };
      bearer.set("authorization", `Bearer ${token}`);
      const thief = client.connect(bearer);
      const refused = new Promise<string>((resolve) => {
        thief.on("data", () => resolve("it is welcome"));
        thief.on("error", ({ code }: ServiceError) => resolve(status[code]!));
      });
      const hello = { bootId: "thief", labels: {}, slots: 1, version: "1", held: [], heldJobIds: [], takesNoJobs: "" };
      thief.write({ message: { $case: "hello", value: hello } });
      expect(await refused).to.equal("ALREADY_EXISTS");
      client.close();

      const api = new ApiClient({ baseUrl: `http://${node.http}`, token: () => Promise.resolve(admin) });
      const { pipelineId } = await api.createPipeline("trusted", "");
      const agentSelector = { trusted: true, matchLabels: { pool: "production" } };
      const steps = [{ uses: "shell", args: { script: "true" } }];
      await api.saveSpec(pipelineId, { jobs: [{ name: "deploy", agentSelector, steps }] });
      const { runId } = await api.trigger(pipelineId, {});
      await until("the run succeeds", async () => {
        const { status: word } = await call<{ readonly status: string }>("GET", `/pipelines/runs/${runId}`);
        return word === "success";
      });
    } finally {
      agent.kill("SIGKILL");
    }
  });

  for (const [fault, old, instead, only] of FAULTS) {
    it(`fails its case when it ${fault}`, async () => {
      const file = await install((source) => {
        expect(source).to.include(old);
        return source.replaceAll(old, instead);
      });
      const { code, report } = await conform(file, ["--only", only]);
      expect(report.cases.map(({ outcome }) => outcome)).to.deep.equal(["passed", "failed"]);
      expect(report.cases[1]!.name).to.include(only);
      expect(code).to.equal(1);
    });
  }
});
