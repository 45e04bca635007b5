/** What a call can reject with, besides the reason of its own signal. */
import type { ErrorReason, Problem, Schemas } from "./api-types.ts";

/** A call that failed. Each kind is a class of its own. */
export abstract class ClientError extends Error {
  /** The method and path of the call, for messages. */
  readonly call: string;

  constructor(call: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.call = call;
  }
}

/** The server refused the call or failed. */
export class ApiError extends ClientError {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly code: number;
  readonly reason: ErrorReason;
  /** What is wrong with a request, with JSON pointers into it. May be empty. */
  readonly problems: readonly Problem[];
  /** By which the server's log knows the call. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(
    call: string,
    body: Schemas["Error"],
    { requestId, retryAfterMs }: { requestId: string | undefined; retryAfterMs: number | undefined },
  ) {
    super(call, body.errMsg);
    this.code = body.code;
    this.reason = body.reason;
    this.problems = body.errors;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A parameter that no path can hold, such as `..`. The call was not sent. */
export class ParameterError extends TypeError {
  override readonly name = "ParameterError";
  readonly value: string;

  constructor(template: string, parameter: string, value: string) {
    super(`the parameter ${parameter} of ${template} cannot be "${value}"`);
    this.value = value;
  }
}

/** The server cannot be reached, does not answer in time, or its answer was cut off. The call may have been performed. */
export class ConnectionError extends ClientError {
  override readonly name = "ConnectionError";
}

/** What answered is no millrace, or something between it and the client. */
export class ForeignAnswerError extends ClientError {
  override readonly name = "ForeignAnswerError";
  readonly status: number;

  constructor(call: string, host: string, status: number, type: string | null) {
    super(call, `${host} did not answer as millrace does: HTTP ${status}, ${type ?? "without a content type"}`);
    this.status = status;
  }
}

/** The answer is larger than the client takes. */
export class AnswerTooLargeError extends ClientError {
  override readonly name = "AnswerTooLargeError";
  readonly limitBytes: number;

  constructor(call: string, limitBytes: number) {
    super(call, `the answer has more than ${limitBytes} bytes`);
    this.limitBytes = limitBytes;
  }
}
