/** The floor's control plane: takes runs from one queue and puts their steps into the other. */
import { Queue, Worker } from "bullmq";
import type { RunOrder } from "../measure/engine.ts";
import type { StepOrder } from "../measure/child-steps.ts";
import { attendHarness } from "../measure/system-process.ts";
import { Ends, tellEnds } from "./ends.ts";
import { addressFromEnv, connect, queueOptions, RUNS, STEPS, workerOptions } from "./queues.ts";

const address = addressFromEnv();
const redis = connect(address);
const steps = new Queue<StepOrder>(STEPS, queueOptions(redis));
const ends = await Ends.listen(connect(address), STEPS);

const runs = new Worker<RunOrder>(
  RUNS,
  async ({ data: run }) => {
    if (run.order === "sequential") for (const step of run.steps) await ended([step], () => steps.add("step", step));
    else await ended(run.steps, () => steps.addBulk(run.steps.map((data) => ({ name: "step", data }))));
  },
  workerOptions(redis),
);
tellEnds(runs, redis, RUNS);
await Promise.all([steps.waitUntilReady(), runs.waitUntilReady()]);
attendHarness("ready");

async function ended(orders: readonly StepOrder[], add: () => Promise<unknown>): Promise<void> {
  const all = Promise.all(orders.map(({ id }) => ends.of(id)));
  await Promise.all([add(), all]);
}
