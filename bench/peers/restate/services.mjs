/**
 * The services of the comparison: a run that calls a service for each of its steps, as Restate's documentation shows for
 * work that is to be retried and to scale by itself. JavaScript, since the product's type check knows no SDK of a peer.
 */
import * as restate from "@restatedev/restate-sdk";
import { createServer } from "node:http2";
import { ChildSteps } from "../../measure/child-steps.ts";
import { attendHarness } from "../../measure/system-process.ts";

// The SDK is written for Node 22; this is all that it misses in Node 20.
Promise.withResolvers ??= () => {
  const resolvers = {};
  resolvers.promise = new Promise((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return resolvers;
};

const children = new ChildSteps();

// The step's result is what its handler returns: in the journal with the end of the call, without a `ctx.run` of its own.
const step = restate.service({
  name: "step",
  handlers: {
    run: async (_, order) => {
      try {
        await children.run(order);
      } catch (error) {
        throw new restate.TerminalError(error.message); // Any other error would be tried again.
      }
    },
  },
});

const run = restate.service({
  name: "run",
  handlers: {
    run: async (ctx, { order, steps }) => {
      const client = ctx.serviceClient(step);
      if (order === "sequential") for (const each of steps) await client.run(each);
      else await restate.RestatePromise.all(steps.map((each) => client.run(each)));
    },
  },
});

const handler = restate.createEndpointHandler({ services: [step, run] });
const server = createServer(handler);
server.listen(0, "127.0.0.1", () => attendHarness(server.address().port, () => children.takeCounts()));
