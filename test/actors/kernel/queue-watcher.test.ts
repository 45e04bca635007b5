import { expect } from "chai";
import { QueueWatcher } from "../../../actors/kernel/queue-watcher.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { newJob } from "../../../actors/job/state.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import type { AgentWait } from "../../../src/domain/agent-wait.ts";
import type { PresenceRecord } from "../../../src/board/board.ts";
import { type AgentId, asId, newId, type RunId } from "../../../src/domain/ids.ts";
import type { AgentSelector } from "../../../src/domain/labels.ts";
import { systemTimers } from "../../../src/domain/clock.ts";
import type { JobLocation } from "../../../src/stores/ports/aggregates.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { planOf } from "../../support/plans.ts";

const PLAN = planOf([[{}]]);
const LINUX: AgentSelector = { matchLabels: [["os", "linux"]], matchExpressions: [] };
const LONG_MS = 5_000;

describe("the queue watcher", () => {
  let now: number;
  let ports: RecordingPorts;
  let online: PresenceRecord[] | null;
  let queued: Map<number, JobLocation[]>;
  let told: { readonly runId: RunId; readonly wait: AgentWait }[];
  let refreshed: RunId[];
  /** How often presence was read. */
  let reads: number;
  /** How long the watcher takes for each read of a page of jobs, milliseconds. */
  let pageMs: number;
  let watcher: QueueWatcher;

  beforeEach(() => {
    now = 1_000_000;
    ports = new RecordingPorts();
    online = [];
    reads = 0;
    pageMs = 0;
    queued = new Map();
    told = [];
    refreshed = [];
    watcher = new QueueWatcher({
      aggregates: {
        pageQueuedJobs: async (shard, after, limit) => {
          now += pageMs;
          return (queued.get(shard) ?? [])
            .toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1))
            .filter(({ jobId }) => jobId > after)
            .slice(0, limit);
        },
      },
      board: ports.board,
      presence: {
        online: () => {
          reads++;
          return online === null ? Promise.reject(new Error("no Redis")) : Promise.resolve(online);
        },
      },
      clock: { now: () => now, monotonic: () => now },
      timers: systemTimers,
      log: silentLog,
      typeOf: () => RUN_AGGREGATE,
      queueCheckMs: 2_000,
      longWaitMs: LONG_MS,
      shards: () => queued.keys(),
      refresh: async (_, runId) => void refreshed.push(runId),
      deliver: async (_, runId, { message }) => {
        const { type: _type, ...wait } = message as AgentWait & { type: "waits" };
        told.push({ runId, wait });
      },
    });
    now += LONG_MS;
  });

  async function queue(shard: number, { selector = LINUX, state = {} as Partial<JobState> } = {}): Promise<RunId> {
    const runId = newId("run");
    const job: JobState = { ...newJob(runId, PLAN.jobs[0]!), state: "queued", queuedAt: now, ...state };
    const { jobId } = job;
    const index = { position: 0, jobId: null, status: "queued", attempt: 1, agentId: null };
    const location: JobLocation = { runId, jobId, actor: { kind: "job", id: jobId, state: job, index } };
    queued.set(shard, [...(queued.get(shard) ?? []), location]);
    const { projectId } = PLAN;
    await ports.board.offer({ runId, jobId, jobIndex: 0, projectId, selector, priority: 0, queuedAt: now });
    return runId;
  }

  async function check(count = 1): Promise<void> {
    for (let at = 0; at < count; at++) {
      now += 2_000;
      await watcher.check();
    }
  }

  const agent = (labels: Record<string, string>, busy = 0): PresenceRecord => ({
    agentId: asId<AgentId>("agt_1"),
    bootId: "b",
    gatewayId: "g",
    labels,
    slots: 1,
    busy,
  });
  const reasons = () => told.map(({ wait }) => wait.reason);

  it("tells a job that has waited long why no agent takes it", async () => {
    const runId = await queue(0);
    await check(2);
    expect(told).to.deep.equal([]);
    await check();
    expect(told).to.deep.equal([
      { runId, wait: { reason: "no_agent_online", clause: "", text: "no agent is online" } },
    ]);
  });

  it("tells only a reason that two checks have found, and none while an agent could take the job", async () => {
    await queue(0);
    online = [agent({ os: "linux" })];
    await check(5);
    online = [agent({ os: "mac" })];
    await check();
    expect(told).to.deep.equal([]);
    await check();
    expect(told.map(({ wait }) => [wait.reason, wait.clause])).to.deep.equal([["no_agent_matches", "os=linux"]]);
  });

  it("reads presence only when a job has waited long, and once for all of them", async () => {
    await check(5);
    expect(reads, "the board is empty").to.equal(0);
    for (let shard = 0; shard < 4; shard++) await queue(shard);
    await check();
    expect(reads, "no job has waited long").to.equal(0);
    now += LONG_MS;
    await check();
    expect(reads, "four jobs of four shards wait").to.equal(1);
  });

  it("tells no reason twice, and none to a paused job", async () => {
    const waits = { reason: "all_busy", clause: "" } as const;
    await queue(0, { state: { waits } });
    await queue(0, { state: { paused: true } });
    online = [agent({ os: "linux" }, 1)];
    await check(6);
    expect(told).to.deep.equal([]);
  });

  it("does not take an outage of presence for the absence of all agents", async () => {
    await queue(0);
    online = [agent({ os: "linux" })];
    await check(3);
    online = null;
    await check(3);
    online = [];
    await check(14);
    expect(told).to.deep.equal([]);
    await check(3);
    expect(reasons()).to.include("no_agent_online");
  });

  it("tells no reason after Redis was emptied, until agents have had time for a beat", async () => {
    await queue(0);
    await check();
    watcher.forgetPresence();
    await check(14);
    expect(told).to.deep.equal([]);
    await check(3);
    expect(reasons()).to.include("no_agent_online");
  });

  it("tells a bounded number of runs with each check, and reaches all shards and jobs", async () => {
    const all = new Set<RunId>();
    for (let at = 0; at < 250; at++) all.add(await queue(at % 3));
    await check(3);
    const seen = new Set(told.map(({ runId }) => runId));
    expect(seen.size).to.equal(100);
    for (let checks = 0; checks < 4; checks++) {
      for (const { runId, wait } of told.splice(0)) {
        for (const jobs of queued.values()) {
          const job = jobs.find((candidate) => candidate.runId === runId);
          if (job !== undefined) Object.assign(job.actor.state as object, { waits: wait });
        }
      }
      await check();
      for (const { runId } of told) seen.add(runId);
    }
    expect(seen).to.deep.equal(all);
  });

  it("lets other work go on while it reads many jobs", async () => {
    for (let shard = 0; shard < 8; shard++) await queue(shard);
    let others = 0;
    const work = setInterval(() => others++, 0);
    try {
      await check();
      expect(others, "a check that is done at once").to.equal(0);
      pageMs = 10;
      await check();
      expect(others).to.be.at.least(3);
    } finally {
      clearInterval(work);
    }
  });

  it("continues behind the page that its last check has read", async () => {
    for (let at = 0; at < 1_100; at++) {
      await queue(at % 2, { state: { waits: { reason: "no_agent_online", clause: "" } } });
    }
    await check(3);
    const last = await queue(1);
    (queued.get(1)!.at(-1)!.actor.state as { queuedAt: number }).queuedAt = 0;
    await check(3);
    expect(new Set(told.map(({ runId }) => runId))).to.deep.equal(new Set([last]));
  });

  it("has an offer made again that two looks have not found on the board", async () => {
    const [kept, lost] = [await queue(0), await queue(1)];
    const [job] = queued.get(1)!;
    await ports.board.withdraw(job!.jobId);
    await check(2);
    expect(refreshed).to.deep.equal([]);
    await check();
    expect(refreshed).to.deep.equal([lost]).and.not.include(kept);
  });

  it("finds lost offers behind the first page of queued jobs too", async () => {
    for (let at = 0; at < 1_100; at++) await queue(0);
    const lost = await queue(1);
    await ports.board.withdraw(queued.get(1)![0]!.jobId);
    await check(6);
    expect(refreshed).to.deep.equal([lost]);
  });

  it("has all offers made again when the board has lost them all, and reads an empty board's jobs rarely", async () => {
    const runs = [await queue(0), await queue(0)];
    ports.offers.clear();
    await check(14);
    expect(refreshed).to.deep.equal([]);
    await check(2);
    expect(refreshed).to.have.members(runs);
  });
});
