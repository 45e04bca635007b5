/** Operations that the contract names and that do not work yet: they answer UNIMPLEMENTED, and say so. */
import type { sendUnaryData, ServiceDefinition, UntypedHandleCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { EventEmitter } from "node:events";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { toStatus } from "./status.ts";

/** A handler of that kind for any operation whose answers are a stream. */
export function unimplementedStream(operation: string, log: Logger): (call: EventEmitter) => void {
  return (call) => void call.emit("error", statusOf(operation, log));
}

/** A whole service of such operations. */
export function unimplementedService(definition: ServiceDefinition, log: Logger): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.entries(definition).map(([name, { path, responseStream }]): [string, UntypedHandleCall] => {
      if (responseStream) return [name, unimplementedStream(path, log)];
      return [name, (_call: unknown, answer: sendUnaryData<unknown>) => answer(statusOf(path, log))];
    }),
  );
}

function statusOf(operation: string, log: Logger): ReturnType<typeof toStatus> {
  return toStatus(new MillraceError("not_implemented", `${operation} is not available yet`), operation, log);
}
