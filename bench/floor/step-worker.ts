/** The floor's agent: it runs each job of the queue of steps as a child process. */
import { Worker } from "bullmq";
import { ChildSteps, type StepRequest } from "../measure/child-steps.ts";
import { attendHarness } from "../measure/system-process.ts";
import { publishEnds } from "./ends.ts";
import { addressFromEnv, connect, STEPS, workerOptions } from "./queues.ts";

const address = addressFromEnv();
const redis = connect(address);
const children = new ChildSteps();
const worker = new Worker<StepRequest>(STEPS, ({ data }) => children.run(data), workerOptions(redis));
publishEnds(worker, redis, STEPS);
await worker.waitUntilReady();
attendHarness("ready", () => children.takeCounts());
