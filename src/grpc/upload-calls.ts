/** gateway.v1, uploads: agents fetch the uploads that the trigger gave to the runs of their steps. */
import { z } from "zod";
import type { GatewayServer, PullUploadRequest, PullUploadResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { findGivenUpload, readGivenUpload } from "../gateway/handout/upload-handout.ts";
import { callingAgent } from "../gateway/registration.ts";
import { stepGrant } from "./artifact-calls.ts";
import { authenticateCall, serveStream, type StreamContext, whileValid } from "./calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

const pullUpload = z.object({ ...stepGrant, name: z.string().min(1).max(200), offset: stepGrant.token });

export function uploadCalls(context: StreamContext): Pick<GatewayServer, "pullUpload"> {
  return {
    pullUpload: (call: ServerWritableStream<PullUploadRequest, PullUploadResponse>) =>
      serveStream<PullUploadResponse>(context.log, call, async (write, hungUp) => {
        const facts = await authenticateCall(context, call, hungUp);
        await whileValid(context, facts, async () => {
          const { offset, ...request } = parseMessage(pullUpload, call.request);
          const upload = await findGivenUpload(context, callingAgent(facts.caller), request);
          const { uploadId, name: fileName, size, sha256 } = upload;
          const found = { uploadId, fileName, sizeBytes: BigInt(size), sha256 };
          await write({ message: { $case: "found", value: found } });
          for await (const piece of readGivenUpload(context, upload, offset)) {
            if (piece.length === 0) continue;
            await write({
              message: { $case: "data", value: Buffer.from(piece.buffer, piece.byteOffset, piece.length) },
            });
          }
        });
      }),
  };
}
