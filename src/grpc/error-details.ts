/** An error as `google.rpc` messages, for callers that read the metadata `grpc-status-details-bin`. */
import { Any } from "../../proto/generated/google/protobuf/any.ts";
import { BadRequest, ErrorInfo, RetryInfo } from "../../proto/generated/google/rpc/error_details.ts";
import { Status } from "../../proto/generated/google/rpc/status.ts";
import { ERROR_TABLE, type MillraceError, type Problem } from "../domain/errors.ts";
import { fromPointer } from "../domain/json-pointer.ts";

/** `ErrorInfo.domain`: names the system that defines the reasons. */
const DOMAIN = "millrace";

/** Bytes around the violations within the status: the URL of their type and three lengths. */
const BAD_REQUEST_FRAME_BYTES = 64;

/**
 * A serialized google.rpc.Status of at most `maxBytes`; `message` must leave 400 of them free. It holds an ErrorInfo with
 * the word of the error table in upper snake case, whether to retry and the number of all problems, a RetryInfo for
 * `unavailable`, and a BadRequest with the first problems, as many as fit.
 */
export function errorDetails(error: MillraceError, message: string, maxBytes: number): Buffer {
  const { reason, problems } = error;
  const { grpc: code, retry } = ERROR_TABLE[reason];
  // The violations below are the first problems only.
  const counted = problems.length > 0 ? { problems: String(error.problemCount) } : {};
  const info = ErrorInfo.create({ reason: upperSnake(reason), domain: DOMAIN, metadata: { retry, ...counted } });
  const details = [pack("ErrorInfo", ErrorInfo.encode(info).finish())];
  if (reason === "unavailable") {
    const delay = RetryInfo.create({ retryDelay: { seconds: BigInt(error.retryAfterSeconds), nanos: 0 } });
    details.push(pack("RetryInfo", RetryInfo.encode(delay).finish()));
  }
  const leftBytes = maxBytes - Status.encode({ code, message, details }).finish().length - BAD_REQUEST_FRAME_BYTES;
  const fieldViolations = firstThatFit(problems.map(violationOf), leftBytes, bytesOfViolation);
  if (fieldViolations.length > 0) {
    details.push(pack("BadRequest", BadRequest.encode({ fieldViolations }).finish()));
  }
  return Buffer.from(Status.encode({ code, message, details }).finish());
}

/** The first items whose sizes add up to at most `maxBytes`. */
export function firstThatFit<T>(items: readonly T[], maxBytes: number, bytesOf: (item: T) => number): T[] {
  let bytes = 0;
  const beyond = items.findIndex((item) => (bytes += bytesOf(item)) > maxBytes);
  return beyond < 0 ? [...items] : items.slice(0, beyond);
}

type Violation = BadRequest["fieldViolations"][number];

/** Bytes of a violation with the tag and the length before it. */
const bytesOfViolation = (violation: Violation): number =>
  BadRequest.encode({ fieldViolations: [violation] }).finish().length;

function pack(type: string, value: Uint8Array): Any {
  return { typeUrl: `type.googleapis.com/google.rpc.${type}`, value: Buffer.from(value) };
}

function violationOf({ code, pointer, message, line, column, file }: Problem): Violation {
  const inFile = file === undefined ? "" : `${file}:`;
  const place = line === undefined ? "" : `${inFile}${line}:${column ?? 1}: `;
  return { field: fieldPath(pointer), description: `${place}${message}`, reason: upperSnake(code) };
}

/** A JSON pointer as the path that `FieldViolation.field` asks for: `/jobs/0/env/A B` is `jobs[0].env["A B"]`. */
export function fieldPath(pointer: string): string {
  return fromPointer(pointer).reduce((path, name) => {
    if (/^\d+$/.test(name)) return `${path}[${name}]`;
    if (!/^[A-Za-z_]\w*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
    return path === "" ? name : `${path}.${name}`;
  }, "");
}

const upperSnake = (word: string): string => word.replaceAll("-", "_").toUpperCase();
