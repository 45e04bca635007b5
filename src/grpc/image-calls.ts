/** gateway.v1, images: agents tell which image they have found, and learn which one the run uses. */
import { z } from "zod";
import type { GatewayServer } from "../../proto/generated/gateway/v1/gateway.ts";
import { IMAGE_DIGEST, MAX_REFERENCE_CHARS } from "../domain/containers/image-references.ts";
import { pinImage } from "../gateway/ingest/image-pins.ts";
import { callingAgent } from "../gateway/registration.ts";
import { stepGrant } from "./artifact-calls.ts";
import { type StreamContext, unary } from "./calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

const pinRequest = z.object({
  ...stepGrant,
  image: z.string().min(1).max(MAX_REFERENCE_CHARS),
  digest: z.string().regex(IMAGE_DIGEST, "must be `sha256:` and 64 lower-case hexadecimal digits"),
});

export function imageCalls(context: StreamContext): Pick<GatewayServer, "pinImage"> {
  return {
    pinImage: unary(context, async (request, { caller }) => ({
      digest: await pinImage(context, callingAgent(caller), parseMessage(pinRequest, request)),
    })),
  };
}
