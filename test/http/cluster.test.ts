import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import { Queue } from "bullmq";
import { expect } from "chai";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import type { DeadLetterView } from "../../src/app/upkeep/dead-letters.ts";
import type { ClusterView } from "../../src/app/upkeep/cluster.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";

import { asId, newId, type RunId } from "../../src/domain/ids.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import type { Role } from "../../src/domain/roles.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { openTestNodes, type TestNode, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";

const SHARDS = 4;

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever is answered
  readonly body: any;
}

describe("the view of the cluster", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let edge: TestNode;
  let redis: RedisClient;
  let sender: MailboxSender;

  beforeEach(async () => {
    nodes = await openTestNodes({ shards: SHARDS });
    edge = await nodes.start("edge");
    redis = connectRedis({ url: nodes.redis.url }, { role: "edge", log: silentLog });
    sender = new MailboxSender({ redis, shards: SHARDS });
  });
  afterEach(async () => {
    await sender.close();
    redis.disconnect();
    await nodes.close();
  });

  async function api(method: string, path: string, body?: unknown, token = edge.adminToken): Promise<Answer> {
    const response = await fetch(`http://${edge.http}/api/v1${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  const call = (method: string, path: string, token = edge.adminToken): Promise<Answer> =>
    api(method, `/cluster${path}`, undefined, token);

  /** Starts a run that waits for an agent. */
  async function startRun(): Promise<RunId> {
    const { pipelineId } = (await api("POST", "/pipelines", { name: "p" })).body.detail;
    const steps = [{ name: "s", uses: "shell", args: { script: "true" } }];
    await api("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs: [{ name: "j", steps }] } });
    const { runId } = (await api("POST", `/pipelines/${pipelineId}/trigger`, {})).body.detail;
    return asId<RunId>(runId as string);
  }

  async function readCluster(): Promise<ClusterView> {
    const { status, body } = await call("GET", "");
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.detail as ClusterView;
  }

  async function listDeadLetters(query = ""): Promise<{ list: DeadLetterView[]; total: number }> {
    const { status, body } = await call("GET", "/dead-letters" + query);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.detail as { list: DeadLetterView[]; total: number };
  }

  /** What the audit log has of a dead letter. */
  const recordedOf = async (objectId: string) => {
    const page = { limit: 10, descending: false };
    const entries = await edge.context.stores.audit.page({ area: "installation", objectId }, page);
    return entries.map(({ operation, outcome, object, before, after }) => [
      operation,
      outcome,
      object?.kind,
      before,
      after,
    ]);
  };
  const redrive = (id: string): Promise<Answer> => call("POST", `/dead-letters/${id}/redrive`);

  async function tokenOf(role: Role): Promise<string> {
    const { context } = edge;
    const userId = newId("usr");
    const user = { userId, name: `some ${role}`, role, passwordHash: "", createdAt: 0, disabled: false };
    await context.stores.identity.createUser(user);
    return issueToken(context, { kind: "personal", subject: userId, name: "test" });
  }

  it("is shown only to owners and administrators", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/dead-letters"],
      ["POST", "/dead-letters/x/redrive"],
    ] as const) {
      expect((await call(method, path, null)).status, path).to.equal(401);
    }
    for (const role of ["maintainer", "operator", "viewer"] as const) {
      const token = await tokenOf(role);
      expect((await call("GET", "", token)).status, role).to.equal(403);
      expect((await call("GET", "/dead-letters", token)).status, role).to.equal(403);
      expect((await call("POST", "/dead-letters/x/redrive", token)).status, role).to.equal(403);
    }
    expect((await call("GET", "", await tokenOf("admin"))).status).to.equal(200);
  });

  it("refuses unknown fields and names every problem", async () => {
    expect((await call("GET", "?all=true")).body.errors[0]).to.include({ code: "unknown_key", pointer: "/all" });
    const { status, body } = await call("GET", "/dead-letters?page=0&sort=id");
    expect(status).to.equal(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members(["/page", "/sort"]);
    const refused = await api("POST", "/cluster/dead-letters/x/redrive", { force: true });
    expect(refused.status).to.equal(400);
    expect((await redrive("unknown")).status).to.equal(404);
    for (const id of ["mb1-99", "mb99-1", "mb999999999-1"]) expect((await redrive(id)).status, id).to.equal(404);
  });

  it("shows the nodes and each shard's owner and epoch, also after a node has left", async () => {
    const before = await readCluster();
    expect(before.nodes.map(({ roles }) => roles)).to.deep.equal([["edge"]]);
    expect(before.shards.map(({ shard, owner, epoch }) => ({ shard, owner, epoch }))).to.deep.equal(
      Array.from({ length: SHARDS }, (_, shard) => ({ shard, owner: null, epoch: 0 })),
    );

    const workers = [await nodes.start("worker"), await nodes.start("worker")];
    const shared = await until("an even spread", async () => {
      const { nodes, shards } = await readCluster();
      const owned = nodes.filter(({ roles }) => roles.includes("worker")).map((node) => node.shards.length);
      return owned.length === 2 && owned.every((count) => count === SHARDS / 2) ? { nodes, shards } : undefined;
    });
    expect(shared.nodes[0]).to.include({ pid: process.pid, version: "0.1.0", schema: STORED_FORMAT.schema });
    expect(Date.parse(shared.nodes[0]!.startedAt)).to.be.closeTo(Date.now(), 60_000);
    for (const { nodeId, shards } of shared.nodes) {
      expect(shared.shards.filter(({ owner }) => owner === nodeId).map(({ shard }) => shard)).to.deep.equal(shards);
    }
    const epochs = async (): Promise<readonly number[]> => (await readCluster()).shards.map(({ epoch }) => epoch);
    const epochsBefore = await epochs();
    const handedOver = shared.nodes.filter(({ roles }) => roles.includes("worker"))[0]!.shards;

    await workers[0]!.stop();
    const after = await until("the other one owns all", async () => {
      const view = await readCluster();
      return view.nodes.at(-1)!.shards.length === SHARDS ? view : undefined;
    });
    expect(after.nodes).to.have.length(2);
    // A worker that a busy machine keeps from its processor loses leases, and takes its own shards with new epochs, too.
    const grown = (await epochs()).flatMap((epoch, shard) => (epoch > epochsBefore[shard]! ? [shard] : []));
    expect(grown).to.include.members([...handedOver]);
  });

  it("names the holder of a lease that is not a live node", async () => {
    await redis.set("{mb2}:owner", "unknown-node", "PX", 60_000);
    const { nodes, shards } = await readCluster();
    expect(shards[2]!.owner).to.equal("unknown-node");
    expect(nodes.map(({ nodeId }) => nodeId)).not.to.include("unknown-node");
  });

  it("counts the envelopes in the mailboxes, and says how long the oldest has waited", async () => {
    const rootId = newId("run");
    const sentAt = Date.now();
    await sender.sendAt({ rootId, to: null, message: null }, sentAt + 3_600_000, "later");
    await sender.send({ rootId, to: null, message: null });
    const waitsSince = Date.now();
    await sender.send({ rootId, to: null, message: null });
    await until("half a second of waiting", () => Date.now() > waitsSince + 500);
    const { shards } = await readCluster();
    const mine = shards.find(({ depth }) => depth.waiting > 0)!;
    expect(mine.depth).to.deep.equal({ waiting: 2, active: 0, delayed: 1, failed: 0 });
    expect(mine.oldestWaitingMs).to.be.within(450, Date.now() - sentAt + 50);
    for (const { oldestWaitingMs } of shards.filter((each) => each !== mine)) expect(oldestWaitingMs).to.equal(null);
  });

  it("counts the wait of a delayed envelope from the time at which it is due", async () => {
    const mailbox = new Queue(mailboxName(1), mailboxOptions(redis, 1));
    try {
      const hourMs = 3_600_000;
      const options = { timestamp: Date.now() - hourMs, delay: hourMs - 2_000 };
      const timer = await mailbox.add("letters", { schema: 1, letters: [] }, options);
      await timer.promote();
      const { shards } = await readCluster();
      expect(shards[1]).to.deep.include({ depth: { waiting: 1, active: 0, delayed: 0, failed: 0 } });
      expect(shards[1]!.oldestWaitingMs).to.be.within(2_000, 12_000);
    } finally {
      await mailbox.close();
    }
  });

  it("says how much memory Redis uses", async () => {
    await redis.config("SET", "maxmemory", "1gb");
    const [server] = (await readCluster()).redis;
    expect(server).to.include({ address: `127.0.0.1:${nodes.redis.port}`, maxMemoryBytes: 1024 ** 3 });
    expect(server!.usedMemoryBytes).to.be.above(100_000);
  });

  it("answers unavailable while Redis cannot be reached", async () => {
    await nodes.redis.kill();
    for (const path of ["", "/dead-letters"]) {
      const { status, body } = await call("GET", path);
      expect(status).to.equal(503);
      expect(body).to.include({ reason: "unavailable" });
      expect(body.errMsg).to.include("Redis cannot be reached");
    }
  });

  describe("dead letters", () => {
    it("reach their actor when redriven, and are listed again when they fail again", async () => {
      const { context } = edge;
      await nodes.start("worker");
      const runId = await startRun();
      const letter = { to: { kind: "job", id: "job_UNKNOWN" }, message: { type: "unknown" } };
      await sender.send({ rootId: runId, ...letter });
      const [dead] = await until("a dead letter", async () => {
        const { list } = await listDeadLetters();
        return list.length > 0 ? list : undefined;
      });
      expect(dead).to.deep.include({ kind: "message", runId, letter });
      expect(dead!.reason).to.include("there is no job job_UNKNOWN");

      const { id } = dead!;
      const repaired = { rootId: runId, shard: dead!.shard, reason: "r", at: 1 };
      const stop = {
        to: { kind: "run", id: runId },
        message: { type: "stop", commandId: "cmd_1", reason: "", operator: "o" },
      };
      await context.stores.deadLetters.insert({ ...repaired, id: "stop", letter: stop });
      expect((await redrive("stop")).body.detail).to.deep.equal({ id: "stop" });
      await until("the run has stopped", async () => {
        return (await context.stores.aggregates.loadHead(runId))!.summary.status === "cancelled";
      });
      expect((await listDeadLetters()).list.map((each) => each.id)).to.deep.equal([id]);
      expect((await redrive("stop")).status).to.equal(404);
      expect(await recordedOf("stop")).to.deep.equal([["redriveDeadLetter", "done", "deadLetter", { runId }, null]]);

      await redrive(id);
      const again = await until("it is listed again", async () => {
        const found = (await listDeadLetters()).list[0];
        return found !== undefined && found.at > dead!.at ? found : undefined;
      });
      expect(again).to.deep.equal({ ...dead, at: again.at });

      const entries = nodes.logged.filter(({ message }) => message === "a dead letter was redriven");
      expect(entries.map(({ level, fields }) => [level, fields["id"], fields["by"]])).to.deep.equal([
        ["info", "stop", "admin"],
        ["info", id, "admin"],
      ]);
    });

    it("stay listed when their mailbox cannot be reached", async () => {
      const { deadLetters } = edge.context.stores;
      const letter = { to: { kind: "run", id: "run_1" }, message: {} };
      await deadLetters.insert({ id: "kept", shard: 1, rootId: "run_1", letter, reason: "r", at: 1 });
      await nodes.redis.kill();
      for (const { status, body } of await Promise.all(["kept", "mb1-1"].map(redrive))) {
        expect(status).to.equal(503);
        expect(body.errMsg).to.equal(
          "the mailbox of the dead letter does not answer within 5000 ms: try again in a moment",
        );
      }
      expect(await deadLetters.find("kept")).to.include({ id: "kept" });
    });

    it("stay listed when they fail again before they are removed", async () => {
      const { mailboxes, stores } = edge.context;
      const letter = { to: { kind: "run", id: "run_1" }, message: {} };
      const dead = { id: "back", shard: 1, rootId: "run_1", letter, reason: "r", at: 1 };
      await stores.deadLetters.insert(dead);
      mailboxes.sendAt = () => stores.deadLetters.insert({ ...dead, at: 2 });
      expect((await redrive("back")).status).to.equal(200);
      expect(await stores.deadLetters.find("back")).to.include({ at: 2 });
    });

    it("include envelopes that no owner could read, which go back to their mailbox", async () => {
      await nodes.start("worker");
      const mailbox = new Queue(mailboxName(1), mailboxOptions(redis, 1));
      try {
        await mailbox.add("letters", { schema: 1, letters: "none" });
        const [dead] = await until("a failed envelope", async () => {
          const { list } = await listDeadLetters();
          return list.length > 0 ? list : undefined;
        });
        expect(dead).to.deep.include({
          kind: "envelope",
          shard: 1,
          runId: null,
          letter: { schema: 1, letters: "none" },
        });
        expect(dead!.id).to.equal("mb1-1");
        expect((await readCluster()).deadLetters).to.deep.equal({ total: 1, messages: 0, envelopes: 1 });
        const job = (await mailbox.getJob("1"))!;
        await job.updateData({ schema: 1, letters: [] });
        expect((await redrive("mb1-1")).status).to.equal(200);
        await until("it is read", async () => (await listDeadLetters()).total === 0);
        expect((await redrive("mb1-1")).status).to.equal(404);
        expect(await recordedOf("mb1-1")).to.deep.equal([["redriveDeadLetter", "done", "deadLetter", null, null]]);
      } finally {
        await mailbox.close();
      }
    });

    it("are listed in pages, envelopes first, each kind in the order of time", async () => {
      const { deadLetters } = edge.context.stores;
      for (const at of [3, 1, 2]) {
        const letter = { to: { kind: "run", id: "run_1" }, message: {} };
        await deadLetters.insert({ id: `m${at}`, shard: 1, rootId: "run_1", letter, reason: "r", at });
      }
      for (const [shard, at] of [
        [0, 20],
        [1, 10],
        [0, 30],
      ] as const) {
        const prefix = `{mb${shard}}:mb${shard}:`;
        await redis.hset(`${prefix}e${at}`, {
          name: "letters",
          data: "{}",
          opts: "{}",
          timestamp: at,
          failedReason: "r",
        });
        await redis.zadd(`${prefix}failed`, at, `e${at}`);
      }
      const pages = async (sort: string): Promise<readonly string[][]> => {
        const ids: string[][] = [];
        for (const page of [1, 2, 3, 4]) {
          const { list, total } = await listDeadLetters(`?pageSize=2&page=${page}&sort=${sort}`);
          expect(total).to.equal(6);
          ids.push(list.map(({ id }) => id));
        }
        return ids;
      };
      expect(await pages("at")).to.deep.equal([["mb1-e10", "mb0-e20"], ["mb0-e30", "m1"], ["m2", "m3"], []]);
      expect(await pages("-at")).to.deep.equal([["mb0-e30", "mb0-e20"], ["mb1-e10", "m3"], ["m2", "m1"], []]);
    });
  });

  describe("metrics", () => {
    const scrape = async (node: TestNode): Promise<string> => (await fetch(`http://${node.metrics}/metrics`)).text();

    it("show the same totals on every node, and the shards that each node owns", async () => {
      const worker = await nodes.start("worker");
      const owned = await until("all are owned", async () => {
        const text = await scrape(worker);
        return text.includes(`millrace_shards_owned ${SHARDS}\n`) ? text : undefined;
      });
      const letter = { to: { kind: "run", id: "run_1" }, message: {} };
      await edge.context.stores.deadLetters.insert({ id: "d", shard: 1, rootId: "run_1", letter, reason: "r", at: 1 });
      const text = await scrape(edge);
      for (const line of [
        "millrace_nodes 2",
        "millrace_dead_letters 1",
        'millrace_mailbox_depth{shard="3",state="failed"} 0',
        'millrace_mailbox_oldest_seconds{shard="0"} 0',
      ]) {
        expect(text.split("\n")).to.include(line);
      }
      expect(text).not.to.include("millrace_shards_owned");
      const [epoch] = /^millrace_shard_epoch\{shard="2"\} \d+$/m.exec(owned)!;
      expect(text.split("\n")).to.include(epoch);
    });

    it("count the envelopes that wait", async () => {
      await sender.send({ rootId: newId("run"), to: null, message: null });
      const text = await until("the age of the envelope", async () => {
        const found = await scrape(edge);
        return /^millrace_mailbox_oldest_seconds\{shard="\d"\} 0\.\d+$/m.test(found) ? found : undefined;
      });
      expect(text).to.match(/^millrace_mailbox_depth\{shard="\d",state="waiting"\} 1$/m);
    });

    it("leave out values from Redis while it cannot be reached, and show the rest", async () => {
      await scrape(edge);
      await nodes.redis.kill();
      const text = await scrape(edge);
      expect(text).not.to.match(/^millrace_(nodes|mailbox_\w+)[ {]/m);
      expect(text).to.match(/^millrace_dead_letters 0$/m);
      await nodes.redis.restart();
      await until("all is shown again", async () => /^millrace_nodes 1$/m.test(await scrape(edge)));
    });
  });
});
