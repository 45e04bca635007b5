/**
 * The one translator of errors into gRPC statuses. The metadata `reason` carries the word of the error table,
 * `problems-bin` a JSON list of the problems, and `grpc-status-details-bin` both of them as `google.rpc` messages.
 */
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { publicError } from "../app/envelope.ts";
import { ERROR_TABLE } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { errorDetails, firstThatFit } from "./error-details.ts";

/**
 * By default, clients refuse an answer whose metadata has more than 8 kB in all. The text is percent-encoded in the
 * metadata, and base64 makes the binary values a third larger.
 */
const MAX_TEXT_BYTES = 800;
const MAX_PROBLEM_BYTES = 2_400;
const MAX_DETAIL_BYTES = 2_400;

/** How gRPC itself names the time that a server asks its caller to wait: gRPC proposal A6, "Pushback". */
const COME_BACK_KEY = "grpc-retry-pushback-ms";

/** The status of an error. An unknown error becomes INTERNAL; its text goes to the log and not to the caller. */
export function toStatus(error: unknown, path: string, log: Logger): StatusObject {
  const shown = publicError(error, "try again; the server's log has the cause", (internal) => {
    const text = internal instanceof Error ? (internal.stack ?? internal.message) : String(internal);
    log.error({ path, error: text }, "a call failed");
  });
  const { reason, problems, comeBackMs } = shown;
  const details = textThatFits(shown.message);
  const metadata = new Metadata();
  metadata.set("reason", reason);
  if (comeBackMs !== undefined) metadata.set(COME_BACK_KEY, String(comeBackMs));
  const sent = firstThatFit(problems, MAX_PROBLEM_BYTES, (problem) => Buffer.byteLength(JSON.stringify(problem)) + 1);
  if (sent.length > 0) metadata.set("problems-bin", Buffer.from(JSON.stringify(sent)));
  metadata.set("grpc-status-details-bin", errorDetails(shown, details, MAX_DETAIL_BYTES));
  return { code: ERROR_TABLE[reason].grpc, details, metadata };
}

function textThatFits(text: string): string {
  // Half of a surrogate pair cannot be percent-encoded. The way through a buffer replaces it.
  const characters = Array.from(Buffer.from(text.slice(0, MAX_TEXT_BYTES + 1)).toString());
  const kept = firstThatFit(characters, MAX_TEXT_BYTES, (character) => encodeURI(character).length);
  return kept.length === characters.length ? kept.join("") : `${kept.join("")}…`;
}
