/** What holds for every call before and around its handler: a request that can be read, and an end. */
import { ServerInterceptingCall, type ServerInterceptor, type ServiceDefinition } from "@grpc/grpc-js";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { toStatus } from "./status.ts";

/** Longest that a unary call without a deadline of its own may take. */
export const UNARY_MS = 60_000;

/** Stands for a request that its decoder could not read. The library alone would answer INTERNAL. */
class Undecodable {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** The same service, whose requests never fail to be decoded; {@link refuseUndecodable} answers those that did. */
export function decodable<S extends ServiceDefinition>(service: S): S {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        return method.requestDeserialize(bytes);
      } catch (error) {
        return new Undecodable(error);
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(methods) as S;
}

/** `malformed_request` for what {@link decodable} could not decode; no handler sees it. */
export function refuseUndecodable(log: Logger): ServerInterceptor {
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMessage(message: unknown, pass) {
            if (!(message instanceof Undecodable)) return pass(message);
            const text = `the bytes of the request are no message of ${path}: use the proto files of this server`;
            const error = new MillraceError("malformed_request", text, { cause: message.cause });
            call.sendStatus(toStatus(error, path, log));
          },
        });
      },
    });
}

/** `deadline_exceeded` for a unary call that sets no deadline and has no answer within `ms`; its handler is hung up on. */
export function boundUnary(log: Logger, ms: number): ServerInterceptor {
  return ({ path, requestStream, responseStream }, call) => {
    if (requestStream || responseStream || call.getDeadline() !== Infinity) return new ServerInterceptingCall(call);
    const text = `no answer within ${ms / 1_000} s, the bound of calls that set no deadline: set one, and try again`;
    const timer = setTimeout(() => {
      call.sendStatus(toStatus(new MillraceError("deadline_exceeded", text), path, log));
    }, ms);
    return new ServerInterceptingCall(call, {
      // Also told of calls that have their answer.
      start: (next) => next({ onCancel: () => clearTimeout(timer) }),
    });
  };
}
