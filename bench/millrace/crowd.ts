/** W12: CPU of an idle installation that has many pipelines, records of agents, and empty lanes on its board. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { createRunAggregate } from "../../actors/run/create.ts";
import { RedisBoard } from "../../src/board/redis-board.ts";
import { RedisPresence } from "../../src/board/redis-presence.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { asId, type AgentId, newId, type ProjectId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import { storeFile } from "../../src/node/data-dir.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { jobSpecsOf, planOf } from "../../test/support/plans.ts";
import { shardOf } from "../../queues/shard-map.ts";
import type { Figure } from "../system.ts";
import { idleCpu } from "./idle.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";

const PIPELINES = 10_000;
const AGENTS = 1_000;
const LANES = 1_000;
const AT_ONCE = 250;
const DAY_MS = 86_400_000;
/** After a start, a node first looks at every pipeline. */
const SETTLE_MS = 40_000;
const IDLE_MS = 20_000;

/** Measures one round. A job that no agent can run waits, so that agents and workers look for a reason and for work. */
export async function measureCrowd(folder: string): Promise<readonly Figure[]> {
  const dataDir = join(folder, "crowd");
  await storePipelines(dataDir);
  const installation = await Installation.start(dataDir);
  try {
    const runs = new Runs(installation);
    await runs.trigger(await runs.pipeline([{ steps: [NO_OP], labels: { missing: "on-every-agent" } }]));
    await pause(SETTLE_MS);
    await fillRedis(join(dataDir, "redis", "redis.sock"));
    const { nodePid, redisPid } = installation;
    const figures = await idleCpu({ "control plane": nodePid, redis: redisPid }, IDLE_MS);
    const crowd = `${PIPELINES} pipelines, ${AGENTS} agents, ${LANES} empty lanes`;
    return figures.map((figure) => ({ ...figure, metric: `${figure.metric}, ${crowd}` }));
  } finally {
    await installation.stop();
  }
}

/** Pipelines with one ended run each, which no rule of retention removes soon. */
async function storePipelines(dataDir: string): Promise<void> {
  const path = storeFile(dataDir);
  await mkdir(dirname(path), { recursive: true });
  const stores = await openSqliteStores({ path });
  try {
    const texts = { description: "", repoUrl: "", defaultBranch: "", pipelineFilePath: "", prTargetBranch: "" };
    const rest = {
      ...texts,
      saveMode: "direct",
      metadata: [],
      createdBy: "",
      actor: "",
      headRevisionId: null,
    } as const;
    const origin = { trigger: { kind: "manual", ref: "" }, variables: [], triggeredBy: "", actor: "" } as const;
    const first = { revisionId: "rev", commitSha: "", attempt: 1, retryOf: null, firstRunId: null };
    const now = Date.now() - DAY_MS;
    const storeOne = async (): Promise<void> => {
      const [pipelineId, runId] = [newId("pl"), newId("run")];
      const projectId = asId<ProjectId>("default");
      const record = { ...rest, pipelineId, projectId, name: pipelineId, createdAt: now, updatedAt: now };
      await stores.pipelines.create(record);
      const plan = { ...planOf([[{}]]), pipelineId, projectId };
      const place = { runId, shard: shardOf(runId, 16), plan, now, origin: { ...origin, ...first } };
      const { head, actors } = createRunAggregate(place);
      const summary = { ...head.summary, status: "success", endedAt: now } as const;
      await stores.aggregates.create(
        { head: { ...head, final: true, settled: true, owed: [], nextDueAt: null, summary }, actors },
        { plan: { graph: plan, jobs: jobSpecsOf(plan) } },
      );
    };
    for (let count = 0; count < PIPELINES; count += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, storeOne));
    }
  } finally {
    await stores.close();
  }
}

/** Records of agents, and lanes whose offers were withdrawn. */
async function fillRedis(socket: string): Promise<void> {
  const redis = new Redis(socket);
  try {
    const presence = new RedisPresence(redis);
    const record = { bootId: "boot", gatewayId: "none", labels: { os: "linux" }, slots: 1, busy: 0 };
    await Promise.all(
      Array.from({ length: AGENTS }, (_, at) => presence.beat({ ...record, agentId: asId<AgentId>(`agt_crowd${at}`) })),
    );
    const silent = {
      messageOf: () => ["unheard", ""] as const,
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    };
    const board = new RedisBoard({ redis, feed: silent, clock: systemClock, emptyLaneMs: 3_600_000 });
    for (let at = 0; at < LANES; at++) {
      const ids = { jobId: newId("job"), runId: newId("run"), projectId: asId<ProjectId>(`prj_crowd${at}`) };
      await board.offer({ ...ids, jobIndex: 0, priority: 0, selector: ANY_AGENT, queuedAt: at });
      await board.withdraw(ids.jobId);
    }
  } finally {
    redis.disconnect();
  }
}
