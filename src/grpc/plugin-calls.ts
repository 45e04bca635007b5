/** gateway.v1, plugins: agents fetch the packages of the plugins that their steps use. */
import type { ServerWritableStream } from "@grpc/grpc-js";
import { z } from "zod";
import type { GatewayServer, PullPluginRequest, PullPluginResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import { callingAgent } from "../gateway/registration.ts";
import { readPluginPackage } from "../gateway/handout/plugin-handout.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import { authenticateCall, serveStream, type StreamContext, whileValid } from "./calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

const wholeNumber = z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);
const pullPlugin = z.object({
  stepRunId: z
    .string()
    .min(1)
    .max(128)
    .transform(asId<StepRunId>),
  token: wholeNumber,
  offset: wholeNumber,
});

export function pluginCalls(context: StreamContext): Pick<GatewayServer, "pullPlugin"> {
  return {
    pullPlugin: (call: ServerWritableStream<PullPluginRequest, PullPluginResponse>) =>
      serveStream<PullPluginResponse>(context.log, call, async (write, hungUp) => {
        const facts = await authenticateCall(context, call, hungUp);
        await whileValid(context, facts, async () => {
          const request = parseMessage(pullPlugin, call.request);
          for await (const piece of readPluginPackage(context, callingAgent(facts.caller), request)) {
            await write({ data: Buffer.from(piece.buffer, piece.byteOffset, piece.length) });
          }
        });
      }),
  };
}
