/**
 * What is around the handler of every call: the call is measured, its request can be decoded, and a unary call has a bound
 * in time.
 */
import {
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  status as Status,
} from "@grpc/grpc-js";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import type { Clock } from "../domain/clock.ts";
import type { Meters } from "../telemetry/meters.ts";
import { toStatus } from "./status.ts";

/** A unary call whose caller sets no deadline may take this long. */
export const UNARY_MS = 60_000;

/** Decoded maps lose an entry with this key without a word: it is the name of their prototype. */
const RESERVED_KEY = "__proto__";
const RESERVED_BYTES = Buffer.from(RESERVED_KEY);

const CANNOT_BE_DECODED = "cannot be decoded as its message: use the proto files of this server's version";

/** Takes the place of a request that could not be decoded in full. Without it, the library would answer INTERNAL. */
class Undecodable {
  readonly text: string;
  readonly cause: unknown;

  constructor(text: string, cause?: unknown) {
    this.text = text;
    this.cause = cause;
  }
}

/**
 * The same service with decoders that never throw and lose no entry of a map. {@link refuseUndecodable} answers the requests
 * that they cannot decode. A response that is bytes is sent as it is.
 */
export function decodable<S extends ServiceDefinition>(service: S): S {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        const message: unknown = method.requestDeserialize(bytes);
        const count = countReservedKeys(bytes);
        // The key may also stand in a text, which a decoded message keeps.
        const isLost = count > 0 && countReservedKeys(method.requestSerialize(message)) < count;
        return isLost ? new Undecodable(`has a map with the key ${RESERVED_KEY}, which no map can have`) : message;
      } catch (error) {
        return new Undecodable(CANNOT_BE_DECODED, error);
      }
    };
    const responseSerialize = (response: unknown): Buffer =>
      Buffer.isBuffer(response) ? response : method.responseSerialize(response);
    return [name, { ...method, requestDeserialize, responseSerialize }];
  });
  return Object.fromEntries(methods) as S;
}

function countReservedKeys(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(RESERVED_BYTES); at >= 0; at = bytes.indexOf(RESERVED_BYTES, at + 1)) count++;
  return count;
}

/** Measures unary calls, and counts streams and their messages. It comes before those that answer calls. */
export function measureCalls(clock: Clock, meters: Meters): ServerInterceptor {
  const { grpcCalls, grpcStreams, openStreams, streamMessages } = meters;
  return ({ path, requestStream, responseStream }, call) => {
    const begunAt = clock.monotonic();
    const method = path.slice(1);
    const isStream = requestStream || responseStream;
    if (isStream) openStreams.add(method, 1);
    let hasEnded = false;
    const end = (code: Status): void => {
      if (hasEnded) return;
      hasEnded = true;
      const key = `${method} ${Status[code]}`;
      if (!isStream) return grpcCalls.of(key).observe((clock.monotonic() - begunAt) / 1_000);
      openStreams.add(method, -1);
      grpcStreams.add(key);
    };
    const [received, sent] = [`${method} received`, `${method} sent`];
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          // The library calls this also for calls that have been answered.
          onCancel: () => end(Status.CANCELLED),
          ...(isStream && {
            onReceiveMessage(message: unknown, pass: (message: unknown) => void) {
              streamMessages.add(received);
              pass(message);
            },
          }),
        });
      },
      ...(isStream && {
        sendMessage(message: unknown, next: (message: unknown) => void) {
          streamMessages.add(sent);
          next(message);
        },
      }),
      sendStatus(answered, next) {
        end(answered.code ?? Status.UNKNOWN);
        next(answered);
      },
    });
  };
}

/** Answers `malformed_request` to a request that {@link decodable} could not decode. No handler sees such a request. */
export function refuseUndecodable(log: Logger): ServerInterceptor {
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMessage(message: unknown, pass) {
            if (!(message instanceof Undecodable)) return pass(message);
            const text = `the request to ${path} ${message.text}`;
            const error = new MillraceError("malformed_request", text, { cause: message.cause });
            call.sendStatus(toStatus(error, path, log));
          },
        });
      },
    });
}

/** Answers `deadline_exceeded` to a unary call that sets no deadline and has no answer within `ms`. The signal of its handler fires. */
export function boundUnary(log: Logger, ms: number): ServerInterceptor {
  return ({ path, requestStream, responseStream }, call) => {
    if (requestStream || responseStream || call.getDeadline() !== Infinity) return new ServerInterceptingCall(call);
    const text = `no answer within ${ms / 1_000} s, which is the bound for calls without a deadline: set a deadline and try again`;
    const timer = setTimeout(() => {
      call.sendStatus(toStatus(new MillraceError("deadline_exceeded", text), path, log));
    }, ms);
    return new ServerInterceptingCall(call, {
      // The library calls this also for calls that have been answered.
      start: (next) => next({ onCancel: () => clearTimeout(timer) }),
    });
  };
}
