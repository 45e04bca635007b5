/** The one translator of errors into gRPC statuses. The metadata `reason` carries the word of the error table, `problems-bin` a JSON list of all problems. */
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { z } from "zod";
import { publicError } from "../app/envelope.ts";
import { ERROR_TABLE, MillraceError, type Problem } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";

/** Unknown errors become INTERNAL and are logged: what is within them is not for callers. */
export function toStatus(error: unknown, path: string, log: Logger): StatusObject {
  const { reason, message, problems } = publicError(error, "try again; the server's log has the cause", (internal) => {
    const text = internal instanceof Error ? (internal.stack ?? internal.message) : String(internal);
    log.error({ path, error: text }, "a call failed");
  });
  const metadata = new Metadata();
  metadata.set("reason", reason);
  if (problems.length > 0) metadata.set("problems-bin", Buffer.from(JSON.stringify(problems)));
  return { code: ERROR_TABLE[reason].grpc, details: message, metadata };
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
