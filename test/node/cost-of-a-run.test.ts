/**
 * What one run costs, in counts and not in time: messages decided, saves, writes to the store and calls to Redis. A change
 * that makes a run dearer shows here; whoever means it changes the number, and says why.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { issueToken } from "../../src/app/identity/tokens.ts";
import type { StartedNode } from "../../src/node/node.ts";
import { TestAgent } from "../agent/test-agent.ts";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";

const RUNS = 10;
/** Long enough for its start to be reported by itself. */
const STEPS = [{ name: "s", uses: "shell", args: { script: "sleep 0.1" } }];

/** Each with the most that a run may cost. */
const LIMITS = {
  /** The claim, the start, the end. */
  turns: 3,
  /** Of them: the job's claim and end, the step's dispatch, start and end, the run's last job. */
  decided: 6,
  /** The run as it begins, one for each turn, and that it is settled. */
  "store writes": 5,
  /** An envelope for each turn, each sent, fetched, settled, and looked after once more. */
  "mailbox calls": 12,
  /** The offer, its taking, its withdrawal, and the look for another one when the slot is free again. */
  "board calls": 4,
  /** Events and the agent's notices of each turn, the first one taken at the edge; the offer. */
  publications: 6,
};

type Costs = Record<keyof typeof LIMITS, number>;

describe("a run of one step", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let node: StartedNode;
  let agent: TestAgent;
  let agentDir: string;
  let monitor: Redis;

  before(async () => {
    nodes = await openTestNodes({ shards: 2 });
    // While nobody else calls: the client breaks when a call that it is told of comes with the answer to its own.
    const redis = new Redis(nodes.redis.url);
    monitor = await redis.monitor();
    redis.disconnect();
    node = await nodes.start("edge,gateway,worker");
    agentDir = await mkdtemp(join(tmpdir(), "millrace-agent-"));
    const registrationToken = await issueToken(node.context, {
      kind: "registration",
      subject: "usr_1",
      name: "agents",
    });
    agent = new TestAgent({
      address: node.grpc!,
      dataDir: agentDir,
      name: "only",
      labels: {},
      slots: 1,
      registrationToken,
      log: node.context.log,
      facts: true,
      minFreeDisk: { bytes: 0, percent: 0 },
      logBufferBytes: 0,
      drainTimeoutMs: 1_000,
    });
    await agent.ready;
  });
  after(async () => {
    monitor.disconnect();
    await agent.kill();
    await nodes.close();
    await rm(agentDir, { recursive: true, force: true });
  });

  async function call<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`http://${node.http}/api/v1/pipelines${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${node.adminToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return ((await response.json()) as { detail: T }).detail;
  }

  async function run(pipelineId: string): Promise<void> {
    const { runId } = await call<{ runId: string }>(`/${pipelineId}/trigger`, {});
    const { aggregates } = node.context.stores;
    await until("the run is settled", async () => (await aggregates.loadHead(runId as never))?.settled);
  }

  async function kernelTotals(): Promise<{ readonly turns: number; readonly decided: number }> {
    const text = await (await fetch(`http://${node.metrics}/metrics`)).text();
    const read = (kind: string) => Number(new RegExp(`millrace_kernel{kind="${kind}"} (\\d+)`).exec(text)![1]);
    return { turns: read("turns"), decided: read("decided") };
  }

  it("costs no more messages, saves, writes and calls to Redis than it should", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("", { name: "costs" });
    await call(`/${pipelineId}/spec/save`, { spec: { jobs: [{ name: "j", steps: STEPS }] } });
    // What is loaded or registered once is no cost of a run.
    await run(pipelineId);

    const total: Costs = {
      turns: 0,
      decided: 0,
      "store writes": 0,
      "mailbox calls": 0,
      "board calls": 0,
      publications: 0,
    };
    const restore = countWrites(node.context.stores, () => total["store writes"]++);
    monitor.on("monitor", (_, [name = "", , , key = ""]: string[], source: string) => {
      // What a script does by itself is no call; owners renew their leases whatever runs.
      if (source === "lua") return;
      if (name.toLowerCase() === "publish") total.publications++;
      else if (/^evalsha$/i.test(name) && /^\{mb\d+\}:mb/.test(key)) total["mailbox calls"]++;
      else if (/^eval/i.test(name) && key.startsWith("{board}:")) total["board calls"]++;
    });
    const before = await kernelTotals();
    for (let n = 0; n < RUNS; n++) await run(pipelineId);
    const after = await kernelTotals();
    restore();
    total.turns = after.turns - before.turns;
    total.decided = after.decided - before.decided;

    for (const [what, limit] of Object.entries(LIMITS)) {
      const perRun = Math.round(total[what as keyof Costs] / RUNS);
      expect(perRun, `${what} a run (${JSON.stringify(total)} in ${RUNS} runs)`).to.equal(limit);
    }
  });
});

/** Counts the calls that write what belongs to runs, until the answer is called. */
function countWrites(stores: StartedNode["context"]["stores"], count: () => void): () => void {
  const undo: (() => void)[] = [];
  const writes = [
    [stores.aggregates, ["create", "save"]],
    [stores.plans, ["put"]],
    [stores.events, ["append"]],
    [stores.inbox, ["insert", "answer"]],
    [stores.logs, ["append"]],
    [stores.outputs, ["put"]],
    [stores.idempotency, ["claim"]],
  ] as const;
  for (const [store, names] of writes) {
    for (const name of names) {
      const target = store as unknown as Record<string, (...args: unknown[]) => unknown>;
      const original = target[name]!;
      target[name] = (...args) => {
        count();
        return original.apply(store, args);
      };
      undo.push(() => void (target[name] = original));
    }
  }
  return () => undo.forEach((step) => step());
}
