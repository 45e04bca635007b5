/** An installation whose agent starts later: the view of a run and the metrics say what the starts waited for. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunDetail } from "../../src/app/runs/run-view.ts";
import type { StartTiming } from "../../src/app/runs/start-timing.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";

import { FAMILIES, type Family } from "../../src/telemetry/families.ts";
import { SILENT, TestAgent } from "../agent/test-agent.ts";
import { openTestNodes, type TestNode, type TestNodes } from "../support/nodes.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { complaintsOfPromtool } from "../support/promtool.ts";
import { until } from "../support/until.ts";
import type { RunId, StepRunId } from "../../src/domain/ids.ts";
import { traceIdOf } from "../../src/telemetry/trace-ids.ts";

const WAIT_MS = 400;

describe("an installation without a free agent", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let edge: TestNode;
  let worker: TestNode;
  let agent: TestAgent | undefined;
  let agentDir: string;
  let receiver: OtlpReceiver;

  before(async () => {
    nodes = await openTestNodes({ shards: 4 });
    edge = await nodes.start("edge,gateway");
    receiver = await startOtlpReceiver();
    worker = await nodes.start("worker", {
      MILLRACE_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
      MILLRACE_PUBLIC_URL: "https://ci.example",
    });
    agentDir = await mkdtemp(join(tmpdir(), "millrace-agent-"));
  });
  after(async () => {
    await agent?.kill();
    await nodes.close();
    await receiver.close();
    await rm(agentDir, { recursive: true, force: true });
  });

  async function call<T>(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    const response = await fetch(`http://${edge.http}/api/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${edge.adminToken}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { detail: T };
    expect(response.status, JSON.stringify(answer)).to.equal(200);
    return answer.detail;
  }

  async function startAgent(): Promise<void> {
    const registrationToken = await issueToken(edge.context, {
      kind: "registration",
      subject: "usr_1",
      name: "agents",
    });
    agent = new TestAgent({
      address: edge.grpc!,
      dataDir: agentDir,
      name: "later",
      labels: {},
      slots: 1,
      registrationToken,
      log: SILENT,
      facts: true,
      minFreeDisk: { bytes: 0, percent: 0 },
      logBufferBytes: 0,
      drainTimeoutMs: 1_000,
    });
    await agent.ready;
  }

  /** The values of a node's series whose name begins with `name`, by the rest of the name. */
  async function scrape(name: string, node = worker): Promise<Readonly<Record<string, number>>> {
    const text = await (await fetch(`http://${node.metrics}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith(name));
    return Object.fromEntries(
      lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
  }

  it("shows the wait for an agent during and after it, and counts each wait once", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("/pipelines", { name: "p" });
    // Each step runs long enough for its start to be reported before its end.
    const steps = ["one", "two"].map((name) => ({ name, uses: "shell", args: { script: "sleep 0.1" } }));
    const jobs = [
      { name: "first", steps },
      { name: "second", needs: ["first"], steps: steps.slice(0, 1) },
    ];
    await call(`/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
    const { runId } = await call<{ runId: string }>(`/pipelines/${pipelineId}/trigger`, {});
    const stepsOf = async (): Promise<readonly (readonly StartTiming[])[]> => {
      const run = await call<RunDetail>(`/pipelines/runs/${runId}`);
      return run.jobs.map((job) => job.steps.map(({ timing }) => timing));
    };
    const waiting = await until("the first job has waited", async () => {
      const [first, second] = await stepsOf();
      return first![0]!.waits.agent! >= WAIT_MS ? { first: first![0]!, second: second![0]! } : undefined;
    });
    expect(waiting.first).to.deep.include({ claimedAt: null, startedAt: null });
    expect(waiting.second.offeredAt).to.equal(null);
    expect(waiting.second.waits).to.include({ agent: null }).and.to.have.property("needs").that.is.at.least(WAIT_MS);

    expect(await scrape("millrace_jobs_waiting")).to.deep.equal({
      '{reason="no_agent_online"}': 1,
      '{reason="no_agent_matches"}': 0,
      '{reason="all_busy"}': 0,
      '{reason="quota"}': 0,
      '{reason="agent"}': 0,
    });

    await startAgent();
    await until("the run has succeeded", async () => {
      return (await call<RunDetail>(`/pipelines/runs/${runId}`)).status === "success";
    });
    const [[one, two], [after]] = (await stepsOf()) as [[StartTiming, StartTiming], [StartTiming]];
    for (const { waits, ...moments } of [one, after]) {
      const order = Object.values(moments) as readonly string[];
      expect(order, "in the order in which they come").to.deep.equal(order.toSorted());
      const sum = Object.values(waits).reduce<number>((total, ms) => total + ms!, 0);
      expect(sum, "no time is left out").to.equal(Date.parse(order.at(-1)!) - Date.parse(order[0]!));
    }
    expect(one.waits.agent).to.be.at.least(WAIT_MS);
    expect(two).to.include({ claimedAt: one.claimedAt }).and.to.have.nested.property("waits.agent", null);
    expect(after.waits.needs).to.be.at.least(one.waits.agent!);

    const counts = await scrape("millrace_start_wait_seconds_count");
    expect(counts).to.deep.equal({
      '{phase="agent"}': 2,
      '{phase="start"}': 3,
    });
    expect(await scrape("millrace_start_wait_seconds_count", edge)).to.deep.equal({ '{phase="plan"}': 1 });
    const sums = await scrape("millrace_start_wait_seconds_sum");
    const milliseconds = (phase: string) => Math.round(sums[`{phase="${phase}"}`]! * 1_000);
    expect(milliseconds("agent")).to.equal(one.waits.agent! + after.waits.agent!);
    expect(milliseconds("start")).to.equal(one.waits.start! + two.waits.start! + after.waits.start!);
    expect(await scrape("millrace_trigger_to_start_seconds_count")).to.deep.equal({ "": 1 });
    const [total] = Object.values(await scrape("millrace_trigger_to_start_seconds_sum"));
    expect(Math.round(total! * 1_000)).to.equal(Date.parse(one.startedAt!) - Date.parse(one.triggeredAt));
  });

  it("measures from the first of several trigger calls with one `requestId`", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("/pipelines", { name: "repeated" });
    const steps = [{ name: "s", uses: "shell", args: { script: "true" } }];
    await call(`/pipelines/${pipelineId}/spec/save`, { spec: { jobs: [{ name: "j", steps }] } });
    const before = Date.now();
    const { runId } = await call<{ runId: string }>(`/pipelines/${pipelineId}/trigger`, { requestId: "once" });
    const after = Date.now();
    const again = await until("a later moment", async () => {
      return (
        Date.now() > after && (await call<{ runId: string }>(`/pipelines/${pipelineId}/trigger`, { requestId: "once" }))
      );
    });
    expect(again.runId).to.equal(runId);
    const { triggeredAt, plannedAt } = (await call<RunDetail>(`/pipelines/runs/${runId}`)).jobs[0]!.steps[0]!.timing;
    expect(Date.parse(triggeredAt)).to.be.within(before, Date.parse(plannedAt));
    expect(Date.parse(plannedAt)).to.be.at.most(after);
  });

  it("counts what happened at the node where it happened, and serves just the families of the table", async () => {
    expect(await scrape("millrace_runs_created_total", edge)).to.deep.equal({ '{trigger="manual"}': 2 });
    await until("both runs have ended", async () => {
      const ended = await scrape("millrace_runs_ended_total");
      return ended['{status="success",trigger="manual"}'] === 2;
    });
    // Where a slot is free, the job of the second run begins in the run's first turn, which the edge saves.
    const begun = await Promise.all([edge, worker].map((node) => scrape("millrace_jobs_started_total", node)));
    expect(begun[0]![""]! + begun[1]![""]!).to.equal(3);
    expect(await scrape("millrace_jobs_ended_total")).to.deep.equal({ '{status="success"}': 3 });
    expect(await scrape("millrace_steps_ended_total")).to.deep.equal({ '{status="success"}': 4 });
    expect(await scrape("millrace_step_seconds_count")).to.deep.equal({ '{status="success"}': 4 });
    expect(await scrape("millrace_run_seconds_count")).to.deep.equal({ '{status="success"}': 2 });
    expect((await scrape("millrace_agents{"))['state="online"}']).to.equal(1);
    await until("no turn is under way", async () => {
      const [taken, measured] = ["millrace_kernel_turns_total ", "millrace_turn_seconds_count "];
      const values = (await scrapeAll(worker)).split("\n").flatMap((line) => {
        return line.startsWith(taken!) || line.startsWith(measured!) ? [line.split(" ")[1]] : [];
      });
      return values.length === 2 && values[0] === values[1];
    });
    const served = await Promise.all([edge, worker].map(scrapeAll));
    for (const [name, { type, from }] of Object.entries<Family>(FAMILIES)) {
      const [atEdge, atWorker] = served.map((text) => text.includes(`# TYPE ${name} ${type}\n`));
      const expected = { node: [true, true], cluster: [true, true], worker: [false, true] };
      expect([atEdge, atWorker], name).to.deep.equal(
        { ...expected, edge: [true, false], gateway: [true, false] }[from],
      );
    }
    for (const text of served) for (const line of text.split("\n")) checkLine(line);
    expect(served.join("\n")).to.match(/millrace_redis_call_seconds_count\{command="evalsha"\} [1-9]/);
    expect(served[1]).to.match(/millrace_store_call_seconds_count\{store="aggregates",operation="save"\} [1-9]/);
    expect(served[0]).to.match(/millrace_grpc_call_seconds_count\{method="agent.v1.Agent\/Register",code="OK"\} 1/);
    expect(served[0]).to.match(/millrace_grpc_streams_open\{method="agent.v1.Agent\/Connect"\} 1/);
    for (const direction of ["received", "sent"]) {
      const messages = `millrace_grpc_stream_messages_total{method="agent.v1.Agent/Connect",direction="${direction}"} `;
      expect(Number(served[0]!.split(messages)[1]?.split("\n")[0]), direction).to.be.at.least(1);
    }
    for (const input of served) expect(complaintsOfPromtool(["check", "metrics"], input)).to.equal("");
  });

  it("counts a run of a hook at the worker that creates it", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("/pipelines", { name: "hooked" });
    const steps = [{ name: "s", uses: "shell", args: { script: "true" } }];
    const triggers = { event: [{ provider: "generic", event: "go" }] };
    await call(`/pipelines/${pipelineId}/spec/save`, { spec: { triggers, jobs: [{ name: "j", steps }] } });
    const hook = { name: "any", kind: "generic", proof: "none" };
    const { hookId } = await call<{ hookId: string }>("/projects/default/hooks", hook);
    await call(`/hooks/${hookId}`, { event: "go" });
    await until("the worker has counted it", async () => {
      return (await scrape("millrace_runs_created_total", worker))['{trigger="event"}'] === 1;
    });
  });

  it("sends the trace of each ended run, linked to its trigger and handed on to its steps", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("/pipelines", { name: "traced" });
    const script = "echo $TRACEPARENT; sleep 0.1";
    const jobs = [
      { name: "good", steps: [{ name: "say", uses: "shell", args: { script } }] },
      { name: "bad", needs: ["good"], steps: [{ name: "fail", uses: "shell", args: { script: "exit 3" } }] },
    ];
    await call(`/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
    const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    const { runId } = await call<{ runId: string }>(
      `/pipelines/${pipelineId}/trigger`,
      {},
      { traceparent: `00-${trace}-${parent}-01`, "x-request-id": "traced-call" },
    );
    const created = nodes.logged.find(
      ({ message, fields }) => message === "a run is created" && fields["runId"] === runId,
    );
    expect(created!.fields).to.include({ requestId: "traced-call", pipelineId });
    const spans = await until(
      "the spans have come",
      () => {
        const ofRun = receiver.spans.filter(({ traceId }) => traceId === traceIdOf(runId as RunId));
        return ofRun.length > 0 && ofRun;
      },
      60_000,
    );
    expect(receiver.faults).to.deep.equal([]);
    expect(receiver.headers).to.include({ "x-key": "a b" });
    const byName = Object.fromEntries(spans.map((span) => [span.name, span]));
    expect(Object.keys(byName)).to.have.members(["RUN traced", "good", "say", "bad", "fail"]);
    const [run, good, say, bad, fail] = ["RUN traced", "good", "say", "bad", "fail"].map((name) => byName[name]!);
    expect(run).to.deep.include({ kind: 2, links: [{ traceId: trace, spanId: parent, flags: 1 }] });
    expect(run).not.to.have.property("parentSpanId");
    expect([good, bad].map((job) => job!.parentSpanId)).to.deep.equal([run!.spanId, run!.spanId]);
    expect([say!.parentSpanId, fail!.parentSpanId]).to.deep.equal([good!.spanId, bad!.spanId]);
    expect(run!.status!.code).to.equal(2);
    expect(good).not.to.have.property("status");
    expect(textsOf(run!)).to.include({
      "cicd.pipeline.name": "traced",
      "cicd.pipeline.run.id": runId,
      "cicd.pipeline.result": "failure",
      "cicd.pipeline.run.url.full": `https://ci.example/api/v1/pipelines/runs/${runId}`,
    });
    expect(textsOf(fail!)).to.include({
      "cicd.pipeline.task.name": "fail",
      "cicd.pipeline.task.run.result": "failure",
      "process.exit.code": "3",
    });
    const statuses = nodes.logged.filter(({ fields }) => fields["runId"] === runId && "status" in fields);
    const ofObjects = statuses.map(({ message, fields }) => `${message} ${String(fields["status"])}`);
    expect(ofObjects).to.include.members(["the status of a step success", "the status of a job failed"]);
    expect(ofObjects.at(-1)).to.equal("the status of a run failed");
    const stepRunId = textsOf(say!)["cicd.pipeline.task.run.id"] as StepRunId;
    const lines = await edge.context.stores.logs.read(stepRunId, 1, 10);
    expect(lines.map(({ content }) => content)).to.deep.equal([`00-${say!.traceId}-${say!.spanId}-01`]);
    expect((await scrape("millrace_spans_total"))['{outcome="sent"}']).to.be.at.least(5);
  });

  const scrapeAll = async (node: TestNode) => (await fetch(`http://${node.metrics}/metrics`)).text();
});

/** The attributes of a span whose values are texts or whole numbers. */
function textsOf({ attributes }: ReceivedSpan): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value["stringValue"] ?? value["intValue"]]));
}

/** Every series belongs to a family of the table, and has the labels of that family and no other. */
function checkLine(line: string): void {
  if (line === "" || line.startsWith("#")) return;
  const [, name, , labels = ""] = /^(\w+)(\{(.*)\})? \S+$/.exec(line) ?? expect.fail(line);
  const table: Readonly<Record<string, Family>> = FAMILIES;
  const family = table[name!] ?? table[name!.replace(/_(bucket|sum|count)$/, "")];
  expect(family, line).not.to.equal(undefined);
  const named = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== "le");
  expect(named, line).to.deep.equal(Object.keys(family!.labels));
}
