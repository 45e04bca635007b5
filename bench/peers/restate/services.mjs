/**
 * The services of the comparison: a run calls a service for each of its steps, as Restate's documentation shows for
 * work that is retried and scaled separately. The file is JavaScript, because the project's type check does not have
 * the SDKs of peers.
 */
import * as restate from "@restatedev/restate-sdk";
import { createServer } from "node:http2";
import { ChildSteps } from "../../measure/child-steps.ts";
import { attendHarness } from "../../measure/system-process.ts";

// The SDK is written for Node 22. This function is the only one that it misses in Node 20.
Promise.withResolvers ??= () => {
  const resolvers = {};
  resolvers.promise = new Promise((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return resolvers;
};

const children = new ChildSteps();

// The handler's return is journaled with the end of the call, so the step needs no `ctx.run` of its own.
const step = restate.service({
  name: "step",
  handlers: {
    run: async (_, request) => {
      try {
        await children.run(request);
      } catch (error) {
        throw new restate.TerminalError(error.message); // Restate would retry the call after any other error.
      }
    },
  },
});

const run = restate.service({
  name: "run",
  handlers: {
    run: async (ctx, { order, steps }) => {
      const client = ctx.serviceClient(step);
      if (order === "sequential") for (const request of steps) await client.run(request);
      else await restate.RestatePromise.all(steps.map((request) => client.run(request)));
    },
  },
});

const handler = restate.createEndpointHandler({ services: [step, run] });
const server = createServer(handler);
server.listen(0, "127.0.0.1", () => attendHarness(server.address().port, () => children.takeCounts()));
