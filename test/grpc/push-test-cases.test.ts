import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PushTestCasesRequest, PushTestCasesResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import { TEST_BOUNDS } from "../../src/domain/notes/notes.ts";
import { takeTestCases } from "../../src/gateway/ingest/test-case-ingest.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { until } from "../support/until.ts";
import { Gateway, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

type Case = PushTestCasesRequest["cases"][number];

describe("test cases that agents send", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let stream: Stream<PushTestCasesRequest, PushTestCasesResponse>;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    agent = await gateway.register("tester");
    run = await heldRun();
    stream = open(agent);
  });
  afterEach(() => stream.cancel());
  after(() => gateway.stop());

  const open = ({ metadata }: TestAgent) => new Stream(gateway.logs().pushTestCases(metadata));

  async function heldRun(junit: readonly string[] | null = ["*.xml"]): Promise<StoredRun> {
    const [job] = jobSpecsOf(planOf([[{}]]));
    const steps = job!.steps.map((step) => (junit === null ? step : { ...step, junit }));
    const held = await StoredRun.create(gateway.stores, [{}], { steps });
    await held.grant({ agentId: agent.agentId, bootId: "b", requestId: "r", token: 1 }, "running");
    return held;
  }

  const send = (part: number, cases: readonly Case[], fields: Partial<PushTestCasesRequest> = {}): void =>
    stream.send({ stepRunId: run.stepRunId(), token: 1n, part, cases: [...cases], ...fields });

  async function push(part: number, cases: readonly Case[]): Promise<PushTestCasesResponse> {
    const answered = stream.received.length;
    send(part, cases);
    await until("an answer", () => stream.received.length > answered);
    return stream.received[answered]!;
  }

  async function refusal(part: number, cases: readonly Case[], fields: Partial<PushTestCasesRequest> = {}) {
    send(part, cases, fields);
    const { code, details } = await until("a refusal", () => stream.status);
    stream.cancel();
    stream = open(agent);
    return [code, details] as const;
  }

  async function stored(): Promise<Readonly<Record<number, readonly string[]>>> {
    const places = await gateway.stores.notes.placesOf(run.runId, "cases");
    const notes = await gateway.stores.notes.find(places);
    const names = ({ body }: { readonly body: string }) => (JSON.parse(body) as Case[]).map(({ name }) => name);
    return Object.fromEntries(notes.map((note) => [note.part, names(note)]));
  }

  it("are stored in any order of their parts, once each: the first sending of a part counts", async () => {
    expect(await push(1, [testCase("c")])).to.deep.equal({ part: 1, stored: true });
    expect(await push(0, [testCase("a"), testCase("b")])).to.deep.equal({ part: 0, stored: true });
    expect(await push(1, [testCase("other")])).to.deep.equal({ part: 1, stored: true });
    stream.cancel();
    stream = open(agent);
    expect(await push(0, [testCase("a"), testCase("b")])).to.deep.equal({ part: 0, stored: true });
    expect(await stored()).to.deep.equal({ 0: ["a", "b"], 1: ["c"] });
  });

  it("are refused for a step that the agent does not hold, that is over, or that declares no reports", async () => {
    expect((await refusal(0, [testCase("a")], { token: 2n }))[0]).to.equal(status.FAILED_PRECONDITION);
    expect((await refusal(0, [testCase("a")], { stepRunId: "step_none" }))[0]).to.equal(status.FAILED_PRECONDITION);
    await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 0 } });
    expect((await refusal(0, [testCase("a")]))[0]).to.equal(status.FAILED_PRECONDITION);
    run = await heldRun(null);
    const [code, details] = await refusal(0, [testCase("a")]);
    expect([code, details.includes("declares no test reports")]).to.deep.equal([status.FAILED_PRECONDITION, true]);
    expect(await stored()).to.deep.equal({});
  });

  it("are refused beyond the bounds of a part, and nothing is stored", async () => {
    const { partCases, name, message } = TEST_BOUNDS;
    const hostile: readonly (readonly [number, readonly Case[]])[] = [
      [0, []],
      [500, [testCase("a")]],
      [-1, [testCase("a")]],
      [0, Array.from({ length: partCases + 1 }, () => testCase("a"))],
      [0, [testCase("a".repeat(name + 1))]],
      [0, [testCase("a", { message: "m".repeat(message + 1) })]],
      [0, [testCase("a", { durationMs: -1n })]],
      // A control character takes six bytes in JSON.
      [0, Array.from({ length: 200 }, () => testCase("a", { message: "\u0001".repeat(message) }))],
    ];
    for (const [part, cases] of hostile) {
      const [code, details] = await refusal(part, cases);
      expect([code, details.length > 0], details).to.deep.equal([status.INVALID_ARGUMENT, true]);
    }
    expect(await stored()).to.deep.equal({});
  });

  it("are not stored when the run has no room for them", async () => {
    const bounds: number[] = [];
    const notes = { ...gateway.stores.notes, put: async (_: unknown, most: number) => (bounds.push(most), "full") };
    const context = { ...gateway.context, stores: { ...gateway.stores, notes } };
    const request = { stepRunId: run.stepRunId(), token: 1, part: 0, cases: [] };
    expect(await takeTestCases(context as never, agent.agentId, request)).to.equal(false);
    expect(bounds).to.deep.equal([TEST_BOUNDS.runBytes]);
  });
});

function testCase(name: string, change: Partial<Case> = {}): Case {
  const plain = { suite: "s", file: "", line: 0, flaky: false, durationMs: 5n, message: "" };
  return { ...plain, name, outcome: "TEST_OUTCOME_PASSED", ...change };
}
