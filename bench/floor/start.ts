/**
 * The floor: the same work with only BullMQ and a Redis server like millrace's own. It has no store, no plan and no
 * guarantee beyond BullMQ's. Every system that is built on BullMQ costs at least as much.
 */
import { Queue } from "bullmq";
import { join } from "node:path";
import { endWithThisProcess } from "../../src/node/lifeline.ts";
import { Teardown } from "../../src/node/teardown.ts";
import { startEmbeddedRedis } from "../../src/redis/embedded.ts";
import { type RunRequest, systemOf } from "../measure/engine.ts";
import { SystemProcess } from "../measure/system-process.ts";
import type { StartSystem } from "../system.ts";
import { Ends } from "./ends.ts";
import { addressToEnv, connect, queueOptions, RUNS } from "./queues.ts";

const LOG = { debug() {}, info() {}, warn: console.warn, error: console.error };

export const startFloor: StartSystem = async (folder, marks) => {
  const started = new Teardown(LOG);
  try {
    const server = await startEmbeddedRedis({ dataDir: folder, log: LOG });
    started.add("Redis", () => server.stop());
    started.add("the lifeline of Redis", endWithThisProcess(server.pid));

    const env = addressToEnv(server.connection);
    const start = async (name: string): Promise<SystemProcess> => {
      const log = join(folder, `${name}.log`);
      const { process } = await SystemProcess.start(new URL(`./${name}.ts`, import.meta.url), env, log);
      started.add(name, () => process.stop());
      return process;
    };
    const orchestrator = await start("orchestrator");
    const worker = await start("step-worker");

    const redis = connect(server.connection);
    started.add("the connection", () => redis.disconnect());
    const subscriber = connect(server.connection);
    started.add("the subscription", () => subscriber.disconnect());
    const runs = new Queue<RunRequest>(RUNS, queueOptions(redis));
    started.add("the queue of runs", () => runs.close());
    const ends = await Ends.listen(subscriber, RUNS);

    return systemOf(
      {
        name: "BullMQ",
        throughputRuns: 1_000,
        processes: [
          { name: "control plane", pid: orchestrator.pid },
          { name: "redis", pid: server.pid },
          { name: "agent", pid: worker.pid, runsSteps: true },
        ],
        async run(request) {
          await Promise.all([ends.of(request.id), runs.add("run", request)]);
        },
        takeStepCounts: () => worker.takeStepCounts(),
        broken: Promise.race([orchestrator.broken, worker.broken]),
        stop: () => started.end(),
      },
      marks,
    );
  } catch (error) {
    await started.end();
    throw error;
  }
};
