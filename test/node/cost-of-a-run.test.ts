/**
 * The cost of one run, in counts and not in time: decided messages, saves, writes to the store and calls to Redis. A
 * change that makes a run more expensive fails here. If the cost is intended, change the number in `run-costs.ts` and
 * record the reason: see `bench/README.md`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { ATTEND } from "../../src/board/board-scripts.ts";

import { Database } from "../../src/stores/sqlite/database.ts";
import { LogSync } from "../../src/stores/sqlite/log-sync.ts";
import { TestAgent } from "../agent/test-agent.ts";
import { openTestNodes, type TestNode, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";
import { RUN_COSTS } from "./run-costs.ts";

const RUNS = 10;
/** The step runs long enough for its start to be reported separately. */
const STEPS = [{ name: "s", uses: "shell", args: { script: "sleep 0.1" } }];

/**
 * What an installation calls whether a run exists or not: leases, membership, clocks, the witness, the metrics, and
 * presence.
 */
const IDLE = /^(eval|info|set|hlen|hmget|ping|client|script)$/i;
/** The keys of the same calls: nodes, members, clocks, and leases, which an owner without others renews with the board's witness. */
const IDLE_KEY = /^(\{presence\}:|\{millrace\}:|\{board\}:generation$|\{mb\d+\}:(owner|generation)$)/;
/** A canary is sent, found, fetched and settled, and the owner looks for another one. */
const CALLS_OF_A_CANARY = 5;

/** Statements that the node executes whether a run exists or not. */
const IDLE_STATEMENTS =
  /WHERE \(?EXISTS|^PRAGMA (?!data_version)|FROM dead_letters|FROM shards|DISTINCT root_id FROM inbox|WHERE shard = |pipeline_id > \? ORDER|FROM projects/;

/** The test reads the head of a run as well, until the run has ended. */
const HEAD = "SELECT * FROM aggregates WHERE root_id = ?";

type Costs = Record<keyof typeof RUN_COSTS, number>;

describe("a run of one step", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let node: TestNode;
  let agent: TestAgent;
  let agentDir: string;
  let monitor: Redis;
  /** How often the test has read the head of a run. */
  let looks = 0;

  before(async () => {
    nodes = await openTestNodes({ shards: 2 });
    // Opened before any other client calls: the client breaks when a call that it monitors arrives with the answer to
    // its own call.
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
    await until("the run is settled", async () => {
      looks++;
      return (await aggregates.loadHead(runId as never))?.settled;
    });
  }

  async function kernelTotals(): Promise<{ readonly turns: number; readonly decided: number }> {
    const text = await (await fetch(`http://${node.metrics}/metrics`)).text();
    const read = (kind: string) => Number(new RegExp(`millrace_kernel{kind="${kind}"} (\\d+)`).exec(text)![1]);
    return { turns: read("turns"), decided: read("decided") };
  }

  it("costs exactly the expected messages, saves, writes and calls to Redis", async () => {
    const { pipelineId } = await call<{ pipelineId: string }>("", { name: "costs" });
    await call(`/${pipelineId}/spec/save`, { spec: { jobs: [{ name: "j", steps: STEPS }] } });
    // The first run also pays for what is loaded or registered once.
    await run(pipelineId);
    // A node must have been alone for a while before it keeps its feed and its vacancies to itself.
    await until("the node keeps all to itself", async () => {
      let calls = 0;
      const count = (_: string, [name = "", script = "", , key = ""]: string[], source: string): void => {
        if (source === "lua" || script === ATTEND.sha1) return;
        if (/^publish$/i.test(name) || (/^eval/i.test(name) && key.startsWith("{board}:"))) calls++;
      };
      monitor.on("monitor", count);
      await run(pipelineId);
      monitor.off("monitor", count);
      return calls === 0;
    });

    const total: Costs = {
      turns: 0,
      decided: 0,
      "store writes": 0,
      "mailbox calls": 0,
      "board calls": 0,
      publications: 0,
      "Redis calls": 0,
      statements: 0,
      commits: 0,
    };
    let canaries = 0;
    const restore = countWrites(node.context.stores, () => total["store writes"]++);
    monitor.on("monitor", (_, command: string[], source: string) => {
      const [name = "", , , key = ""] = command;
      // Commands inside a script are not calls. Owners renew their leases whether a run exists or not.
      if (source === "lua") return;
      if (command.some((value) => value.includes("canary"))) canaries++;
      // A gateway attends its vacancies every second.
      if (command[1] === ATTEND.sha1) return;
      if (!IDLE.test(name) && !IDLE_KEY.test(key)) total["Redis calls"]++;
      if (name.toLowerCase() === "publish") total.publications++;
      else if (/^evalsha$/i.test(name) && /^\{mb\d+\}:mb/.test(key)) total["mailbox calls"]++;
      else if (/^eval/i.test(name) && key.startsWith("{board}:") && !IDLE_KEY.test(key)) total["board calls"]++;
    });
    looks = 0;
    const store = countStatements();
    const before = await kernelTotals();
    for (let n = 0; n < RUNS; n++) await run(pipelineId);
    const after = await kernelTotals();
    restore();
    total["Redis calls"] -= CALLS_OF_A_CANARY * canaries;
    store.restore();
    // A statement that was executed less than once a run is not of a run: the node's upkeep executes such statements.
    const perRunOf = ([sql, count]: [string, number]) => Math.floor((sql === HEAD ? count - looks : count) / RUNS);
    total.statements = RUNS * [...store.statements].reduce((sum, counted) => sum + perRunOf(counted), 0);
    // The upkeep of a node commits now and then, too: less than once a run.
    total.commits = RUNS * Math.floor(store.commits / RUNS);
    total.turns = after.turns - before.turns;
    total.decided = after.decided - before.decided;

    for (const [what, expected] of Object.entries(RUN_COSTS)) {
      const perRun = Math.round(total[what as keyof Costs] / RUNS);
      expect(perRun, `${what} a run (${JSON.stringify(total)} in ${RUNS} runs)`).to.equal(expected);
    }
  });
});

/** Calls `count` for each write of a run's records. Answers the function that ends this. */
function countWrites(stores: TestNode["context"]["stores"], count: () => void): () => void {
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

/** Counts the statements of SQLite by their text, and its commits, until `restore` is called. */
function countStatements() {
  const counted = { statements: new Map<string, number>(), commits: 0, restore };
  let hasWritten = false;
  const database = Database.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = ["runNow", "getNow", "allNow"].map((name) => [name, database[name]!] as const);
  for (const [name, original] of originals) {
    database[name] = function (this: Database, sql, ...values) {
      if (/^\s*(INSERT|UPDATE|DELETE|REPLACE)/.test(sql as string)) hasWritten = true;
      // An insert of one row or of several is the same statement.
      const text = (sql as string).replace(/(\([?, ]+\))(, \1)+/g, "$1");
      if (!IDLE_STATEMENTS.test(text)) counted.statements.set(text, (counted.statements.get(text) ?? 0) + 1);
      return original.call(this, sql, ...values);
    };
  }
  const { committed } = LogSync.prototype;
  LogSync.prototype.committed = function (this: LogSync) {
    if (hasWritten) counted.commits++;
    hasWritten = false;
    return committed.call(this);
  };
  function restore(): void {
    for (const [name, original] of originals) database[name] = original;
    LogSync.prototype.committed = committed;
  }
  return counted;
}
