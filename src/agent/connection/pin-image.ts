/** Asks the control plane which digest of an image the run uses. */
import { type ClientUnaryCall, type ServiceError, status } from "@grpc/grpc-js";
import type { Dispatch } from "../../../proto/generated/agent/v1/agent.ts";
import type { PinImageResponse } from "../../../proto/generated/gateway/v1/gateway.ts";
import { callWithRetries, type GatewayAccess } from "./gateway-call.ts";

export interface FoundDigest {
  readonly image: string;
  readonly digest: string;
}

/**
 * The digest that counts: the one that was found, or the one that another step of the run has found first. A control plane
 * of an earlier version pins nothing. Rejects with `conflict` when the step is over, with `unavailable` when nothing gets
 * through, and with the reason of `signal`.
 */
export function pinImage(
  gateway: GatewayAccess,
  { stepRunId, token }: Pick<Dispatch, "stepRunId" | "token">,
  { image, digest }: FoundDigest,
  signal: AbortSignal,
): Promise<string> {
  return callWithRetries<never, PinImageResponse, string>(
    gateway,
    (client, metadata) => {
      let call: ClientUnaryCall | undefined;
      const answer = new Promise<PinImageResponse>((resolve, reject) => {
        call = client.pinImage({ stepRunId, token, image, digest }, metadata, (error, response) => {
          if (error === null) resolve(response);
          else if (isUnknown(error)) resolve({ digest });
          else reject(error);
        });
      });
      answer.catch(() => {}); // The iterator passes the error on.
      return {
        write: () => {},
        cancel: () => call?.cancel(),
        on: () => {},
        async *[Symbol.asyncIterator]() {
          yield await answer;
        },
      };
    },
    async ({ next }) => (await next()).digest,
    signal,
  );
}

function isUnknown({ code }: ServiceError): boolean {
  return code === status.UNIMPLEMENTED;
}
