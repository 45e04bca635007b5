/** The floor's control plane: it takes runs from one queue and puts their steps into another queue. */
import { Queue, Worker } from "bullmq";
import type { RunRequest } from "../measure/engine.ts";
import type { StepRequest } from "../measure/child-steps.ts";
import { attendHarness } from "../measure/system-process.ts";
import { Ends, publishEnds } from "./ends.ts";
import { addressFromEnv, connect, queueOptions, RUNS, STEPS, workerOptions } from "./queues.ts";

const address = addressFromEnv();
const redis = connect(address);
const steps = new Queue<StepRequest>(STEPS, queueOptions(redis));
const ends = await Ends.listen(connect(address), STEPS);

const runs = new Worker<RunRequest>(
  RUNS,
  async ({ data: run }) => {
    if (run.order === "sequential") for (const step of run.steps) await ended([step], () => steps.add("step", step));
    else await ended(run.steps, () => steps.addBulk(run.steps.map((data) => ({ name: "step", data }))));
  },
  workerOptions(redis),
);
publishEnds(runs, redis, RUNS);
await Promise.all([steps.waitUntilReady(), runs.waitUntilReady()]);
attendHarness("ready");

/** Adds jobs for the steps and resolves when all of them have ended. */
async function ended(requests: readonly StepRequest[], add: () => Promise<unknown>): Promise<void> {
  const all = Promise.all(requests.map(({ id }) => ends.of(id)));
  await Promise.all([add(), all]);
}
