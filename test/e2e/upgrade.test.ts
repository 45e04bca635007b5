/**
 * An installation that an earlier release made and stopped, started with today's program.
 * test/fixtures/bf53b70/README.md says what it holds and how it was made. The clock of every process starts one minute
 * after the installation was stopped, so that nothing expires or is pruned because this test runs years later.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { WebSocket } from "ws";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { stateText } from "../../src/stores/format/packed-states.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { UserCalls } from "../grpc/user-calls.ts";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const FIXTURE = fileURLToPath(new URL("../fixtures/bf53b70", import.meta.url));
const CLOCK = new URL("../support/shifted-clock.mjs", import.meta.url).href;
const LATER_MS = 60_000;
const SWITCHED = "every node reads the new schema";

interface User {
  readonly name: string;
  readonly password: string;
  readonly userId: string;
  readonly token: string;
}

/** The file record.json of the fixture. `pipelines` and `runs` map names to ids. */
interface Installation {
  readonly stoppedAt: number;
  readonly adminToken: string;
  readonly users: readonly [ann: User, bea: User];
  readonly registrationToken: string;
  readonly agent: { readonly name: string; readonly agentId: string };
  readonly secrets: Readonly<Record<string, string>>;
  readonly pipelines: Readonly<Record<string, string>>;
  readonly runs: Readonly<Record<string, string>>;
  readonly deadLetters: Readonly<Record<"envelope" | "message", string>>;
  readonly logs: readonly Log[];
  readonly artifacts: readonly KeptFile[];
}
interface Log {
  readonly run: string;
  readonly jobId: string;
  readonly step: string;
  readonly stepRunId: string;
  readonly lines: readonly string[];
}
interface KeptFile {
  readonly run: string;
  readonly artifactId: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

describe("an installation that commit bf53b70 made", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let node: ServeNode;
  let made: Installation;
  /** The API's answers of the earlier release, by path below `/api/v1`. */
  let answers: Readonly<Record<string, unknown>>;
  let clock: Readonly<Record<string, string>>;

  before(async () => {
    world = await ProcessWorld.create();
    await promisify(execFile)("tar", ["-xzf", join(FIXTURE, "installation.tar.gz"), "-C", world.folder]);
    made = JSON.parse(await readFile(join(FIXTURE, "record.json"), "utf8")) as Installation;
    answers = JSON.parse(await readFile(join(world.folder, "answers.json"), "utf8")) as typeof answers;
    const offsetMs = made.stoppedAt + LATER_MS - Date.now();
    clock = { NODE_OPTIONS: `--import=${CLOCK}`, MILLRACE_TEST_CLOCK_OFFSET_MS: String(offsetMs) };
    node = await world.serve("edge,gateway,worker", { env: clock });
  });
  after(() => world?.end());

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function call(method: string, path: string, body?: unknown, token = made.adminToken): Promise<any> {
    const response = await fetch(`http://${node.http}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.status, `${method} ${path}: ${text}`).to.equal(200);
    return (JSON.parse(text) as { detail: unknown }).detail;
  }
  const runOf = (runId: string) => call("GET", `/pipelines/runs/${runId}`);
  const trigger = async (pipeline: string): Promise<string> =>
    (await call("POST", `/pipelines/${made.pipelines[pipeline]}/trigger`, {})).runId;
  const succeeded = (runId: string) =>
    until(
      `run ${runId} has ended`,
      async () => {
        const run = await runOf(runId);
        if (run.endTime === null) return undefined;
        expect(run.status, JSON.stringify(run)).to.equal("success");
        return run;
      },
      60_000,
    );

  async function agent(name: string, env: Readonly<Record<string, string>>): Promise<StartedProcess> {
    const started = world.agent(node.grpc!, {
      env: { ...clock, MILLRACE_AGENT_NAME: name, MILLRACE_AGENT_SLOTS: "4", LOG_LEVEL: "info", ...env },
    });
    await started.prints("welcomes this agent");
    return started;
  }

  /** The whole log of a step, as a viewer gets it. */
  async function linesOf(pipelineId: string, jobId: string, stepRunId: string): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${made.adminToken}` };
    const socket = new WebSocket(`ws://${node.http}/api/v1/ws`, { headers });
    const lines: string[] = [];
    let done = false;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; data: { content: string }[] };
      if (message.type === "log_chunk") lines.push(...message.data.map(({ content }) => content));
      done ||= message.type === "history_done";
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ channel: "channel_log", params: { pipelineId, jobId, stepRunId } }));
    await until("the whole log", () => done);
    socket.terminate();
    await once(socket, "close");
    return lines;
  }
  /** The lines that each step of a run wrote, by the step's name. */
  async function logsOf(runId: string): Promise<Readonly<Record<string, readonly string[]>>> {
    const { pipelineId, jobs } = await runOf(runId);
    const found: Record<string, readonly string[]> = {};
    for (const { jobId, steps } of jobs) {
      for (const { name, stepRunId } of steps) found[name] = await linesOf(pipelineId, jobId, stepRunId);
    }
    return found;
  }
  const keptLog = (run: string, step: string): readonly string[] =>
    made.logs.find((log) => log.run === run && log.step === step)!.lines;

  it("gives the same answers about everything that had ended", async () => {
    const differences: string[] = [];
    for (const [path, answer] of Object.entries(answers)) {
      differences.push(...missing(answer, await call("GET", path)).map((difference) => `${path}: ${difference}`));
    }
    expect(differences).to.deep.equal([]);
    const statuses = ["succeeded", "failed", "run again", "partial", "cancelled", "superseded", "rejected"].map(
      async (name) => (await runOf(made.runs[name]!)).status,
    );
    expect(await Promise.all(statuses)).to.deep.equal([
      "success",
      "failed",
      "success",
      "partial",
      "cancelled",
      "cancelled",
      "failed",
    ]);
    const { list } = await call("GET", "/cluster/dead-letters");
    expect(list.map(({ id }: { id: string }) => id)).to.have.members(Object.values(made.deadLetters));
  });

  it("keeps its 16 shards, although a new installation has more", async () => {
    expect((await call("GET", "/cluster")).shards).to.have.length(16);
  });

  it("has each line of the logs and each byte of the artifacts", async () => {
    expect(keptLog("talkative", "talk")).to.have.length(600);
    for (const { run, step, jobId, stepRunId, lines } of made.logs) {
      const { pipelineId } = await runOf(made.runs[run]!);
      expect(await linesOf(pipelineId, jobId, stepRunId), `${run}: ${step}`).to.deep.equal(lines);
    }
    expect(made.artifacts).to.have.length(4);
    for (const { run, artifactId, path, bytes, sha256 } of made.artifacts) {
      const from = `/api/v1/pipelines/runs/${made.runs[run]}/artifacts/${artifactId}/content/${path}`;
      const headers = { authorization: `Bearer ${made.adminToken}` };
      const content = Buffer.from(await (await fetch(`http://${node.http}${from}`, { headers })).arrayBuffer());
      const found = createHash("sha256").update(content).digest("hex");
      expect({ bytes: content.length, sha256: found }, path).to.deep.equal({ bytes, sha256 });
    }
  });

  it("accepts its users' passwords and tokens, over HTTP and over gRPC", async () => {
    for (const { name, password, userId, token } of made.users) {
      expect((await call("GET", "/users/me/tokens", undefined, token)).total, name).to.equal(1);
      const session = await call("POST", "/auth/login", { name, password });
      expect(session.user).to.include({ name, userId });
      expect((await call("GET", "/users/me/tokens", undefined, session.accessToken)).total, name).to.equal(1);
      const calls = new UserCalls(node.grpc!, token);
      try {
        const answer = await calls.pipeline("getPipelineRun", { runId: made.runs["succeeded"]! });
        expect(answer.run?.summary).to.include({ runId: made.runs["succeeded"], pipelineId: made.pipelines["whole"] });
      } finally {
        calls.close();
      }
    }
  });

  it("answers a repeated trigger with the run of the first one", async () => {
    const body = { requestId: "a request of the fixture" };
    const { runId } = await call("POST", `/pipelines/${made.pipelines["revised"]}/trigger`, body);
    expect(runId).to.equal(made.runs["of revision 3"]);
  });

  it("welcomes its agent without a second registration", async () => {
    await agent("old", {
      MILLRACE_DATA_DIR: join(world.folder, "agent"),
      MILLRACE_AGENT_LABELS: "name=old,pool=floor",
    });
    const { list } = await call("GET", "/agents");
    const found = list.find(({ name }: { name: string }) => name === made.agent.name);
    expect(found).to.include({ agentId: made.agent.agentId, online: true });
  });

  it("gives its secrets to new runs, masks them, and never answers them", async () => {
    const runId = await trigger("secrets");
    await succeeded(runId);
    const lines = keptLog("with secrets", "use");
    expect(lines[0]).to.equal("masked: *** ***");
    await until("the log", async () => (await logsOf(runId))["use"]!.length === lines.length);
    expect((await logsOf(runId))["use"]).to.deep.equal(lines);
    const paths = ["", "/timeline", "/outputs"].map((part) => `/pipelines/runs/${runId}${part}`);
    for (const path of [...Object.keys(answers), ...paths]) {
      const answer = JSON.stringify(await call("GET", path));
      for (const value of Object.values(made.secrets)) expect(answer, path).not.to.include(value);
    }
  });

  it("restores its cache", async () => {
    const runId = await trigger("cached");
    const { jobs } = await succeeded(runId);
    const statuses = jobs[0].steps.map(({ name, status }: { name: string; status: string }) => [name, status]);
    expect(Object.fromEntries(statuses)).to.include({ deps: "success", install: "skipped", use: "success" });
    await until("the log", async () => (await logsOf(runId))["use"]!.length > 0);
    expect((await logsOf(runId))["use"]).to.deep.equal(["kept"]);
  });

  it("runs the newest revision, and reruns an old run with its revision", async () => {
    const { runId: again } = await call(
      "POST",
      `/pipelines/${made.pipelines["revised"]}/runs/${made.runs["of revision 1"]}/rerun`,
      { scope: "all" },
    );
    const newest = await trigger("revised");
    for (const [runId, line] of [
      [again, "revision 1"],
      [newest, "revision 3"],
    ] as const) {
      await succeeded(runId);
      await until("the log", async () => (await logsOf(runId))["tell"]!.length > 0);
      expect((await logsOf(runId))["tell"]).to.deep.equal([line]);
    }
  });

  it("continues every run that had not ended", async () => {
    const { runs, pipelines, registrationToken } = made;
    const live = ["waits for a second approval", "queued", "paused", "first of a group", "second of a group"];
    const standing = await Promise.all(live.map(async (name) => (await runOf(runs[name]!)).status));
    expect(standing).not.to.include.members(["success", "failed", "cancelled"]);
    expect((await runOf(runs["second of a group"]!)).waitingFor).to.include({ reason: "concurrency" });

    const gated = runs["waits for a second approval"]!;
    const { list } = await call("GET", `/pipelines/runs/${gated}/approvals`);
    expect(list).to.have.length(1);
    expect(list[0]).to.deep.include({ status: "pending", missing: { users: [], count: 1 } });
    const [ann] = made.users;
    const vote = `/pipelines/${pipelines["gated"]}/runs/${gated}/approvals/${list[0].approvalId}/approve`;
    expect(await call("POST", vote, { comment: "seen later" }, ann.token)).to.include({ status: "approved" });
    await call("POST", `/pipelines/${pipelines["later"]}/runs/${runs["paused"]}/resume`, {});

    const registered = { MILLRACE_REGISTRATION_TOKEN: registrationToken };
    await Promise.all([
      agent("later", { ...registered, MILLRACE_AGENT_LABELS: "name=later" }),
      agent("successor", { ...registered, MILLRACE_AGENT_LABELS: "name=gone" }),
    ]);
    const ended = await Promise.all([...live, "interrupted"].map((name) => succeeded(runs[name]!)));
    const [first, second] = [ended[3]!, ended[4]!];
    expect(Date.parse(second.startTime)).to.be.at.least(Date.parse(first.endTime));
    const { jobs } = ended[5]!;
    expect(jobs[0].attempt, "the agent of the first attempt is lost").to.equal(2);
    await until("the log", async () => (await logsOf(runs["interrupted"]!))["work"]!.length > 0);
    expect((await logsOf(runs["interrupted"]!))["work"]).to.deep.equal(["attempt 2"]);
  });

  it("stores what it writes in the new form, and leaves what had ended as it was", async () => {
    const store = new SqliteConnection(join(world.folder, "data", "millrace.db"));
    try {
      const runState = (name: string): Readonly<Record<string, unknown>> => {
        const id = made.runs[name]!;
        const row = store.prepare("SELECT state FROM actors WHERE id = ?").get(id) as { state: string | Uint8Array };
        const text = stateText(row.state, { rootId: id, id, jobId: null });
        return { ...(JSON.parse(text) as object), isPacked: typeof row.state !== "string" };
      };
      const written = runState("interrupted");
      expect(written).to.include({ schema: STORED_FORMAT.schema, isPacked: true }).and.not.have.property("attempts");
      expect(runState("succeeded")).to.include({ isPacked: false }).and.to.have.property("attempts");
      const headersOf = (stepRunId: string) =>
        store.prepare("SELECT * FROM log_headers WHERE step_run_id = ?").all(stepRunId) as readonly object[];
      const { jobs } = await runOf(made.runs["interrupted"]!);
      const [header] = headersOf(jobs[0].steps[0].stepRunId);
      expect(header).to.deep.include({ lines: 1, first_error: null, compression: "none" });
      expect(header).to.include({ tenant_id: "default", project_id: "default" });
      for (const { stepRunId } of made.logs.slice(0, 3)) expect(headersOf(stepRunId)).to.deep.equal([]);
    } finally {
      store.close();
    }
  });
});

describe("an upgrade of that installation that is killed half-way", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  before(async () => void (world = await ProcessWorld.create()));
  after(() => world?.end());

  it("goes on with the next start, and loses no answer", async () => {
    await promisify(execFile)("tar", ["-xzf", join(FIXTURE, "installation.tar.gz"), "-C", world.folder]);
    const made = JSON.parse(await readFile(join(FIXTURE, "record.json"), "utf8")) as Installation;
    const answers = JSON.parse(await readFile(join(world.folder, "answers.json"), "utf8")) as Record<string, unknown>;
    const offsetMs = made.stoppedAt + LATER_MS - Date.now();
    const env = { NODE_OPTIONS: `--import=${CLOCK}`, MILLRACE_TEST_CLOCK_OFFSET_MS: String(offsetMs) };
    // It has changed the tables, and does not write the new schema yet.
    const killed = await world.serve("edge,gateway,worker", { env });
    killed.kill("SIGKILL");
    await killed.exited;
    expect(killed.process.stdout + killed.process.stderr).not.to.include(SWITCHED);

    const node = await world.serve("edge,gateway,worker", { env });
    await node.process.prints(SWITCHED);
    const headers = { authorization: `Bearer ${made.adminToken}` };
    for (const name of ["succeeded", "partial", "failed"]) {
      const path = `/pipelines/runs/${made.runs[name]}`;
      const { detail } = (await (await fetch(`http://${node.http}/api/v1${path}`, { headers })).json()) as {
        detail: unknown;
      };
      expect(answers, path).to.have.property(path);
      expect(missing(answers[path], detail)).to.deep.equal([]);
    }
  });
});

/** The differences of `found` from `expected`. A new field is not a difference. */
function missing(expected: unknown, found: unknown, at = ""): readonly string[] {
  if (typeof expected !== "object" || expected === null || typeof found !== "object" || found === null) {
    return expected === found ? [] : [`${at} was ${JSON.stringify(expected)} and is ${JSON.stringify(found)}`];
  }
  if (Array.isArray(expected) && (!Array.isArray(found) || expected.length !== found.length)) {
    return [`${at} had ${expected.length} items: ${JSON.stringify(expected)}, and is ${JSON.stringify(found)}`];
  }
  return Object.entries(expected).flatMap(([key, value]) =>
    missing(value, (found as Record<string, unknown>)[key], `${at}/${key}`),
  );
}
