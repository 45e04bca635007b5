/** The one translator of errors into gRPC statuses. The metadata `reason` carries the word of the error table, `problems-bin` a JSON list of the problems. */
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { z } from "zod";
import { publicError } from "../app/envelope.ts";
import { ERROR_TABLE, MillraceError, type Problem } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";

/** Clients refuse metadata of more than 8 kB in all by default, and so the whole answer; this is a third more as base64. */
const MAX_PROBLEM_BYTES = 5_000;

/** Unknown errors become INTERNAL and are logged: what is within them is not for callers. */
export function toStatus(error: unknown, path: string, log: Logger): StatusObject {
  const { reason, message, problems } = publicError(error, "try again; the server's log has the cause", (internal) => {
    const text = internal instanceof Error ? (internal.stack ?? internal.message) : String(internal);
    log.error({ path, error: text }, "a call failed");
  });
  const metadata = new Metadata();
  metadata.set("reason", reason);
  const told = problemsThatFit(problems);
  if (told.length > 0) metadata.set("problems-bin", Buffer.from(JSON.stringify(told)));
  return { code: ERROR_TABLE[reason].grpc, details: message, metadata };
}

function problemsThatFit(problems: readonly Problem[]): readonly Problem[] {
  let bytes = 0;
  const beyond = problems.findIndex((problem) => {
    bytes += Buffer.byteLength(JSON.stringify(problem)) + 1;
    return bytes > MAX_PROBLEM_BYTES;
  });
  return beyond < 0 ? problems : problems.slice(0, beyond);
}

/** A message that is not of its schema: throws `malformed_request` with every problem. */
export function parse<T extends z.ZodType>(schema: T, message: unknown): z.output<T> {
  const result = schema.safeParse(message);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message: text }): Problem => ({
    code: "malformed",
    pointer: path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
    message: text,
  }));
  const texts = problems.map((problem) => `${problem.pointer} ${problem.message}`);
  throw new MillraceError("malformed_request", `the request has problems: ${texts.join("; ")}`, { problems });
}
