/** Uploads: files that users send, for runs to read. */
import { PLAIN_TEXT } from "./names.ts";

/** An installation's bounds on uploads. */
export interface UploadRules {
  readonly maxBytes: number;
  /** All uploads of a project together, with those that are not complete. */
  readonly maxProjectBytes: number;
  /** How long an upload that no kept run uses is kept after its last use, milliseconds. */
  readonly retentionMs: number;
  /** How long an upload that is not complete may rest, milliseconds. */
  readonly unfinishedMs: number;
}

/** Uploads of a project, complete or not. */
export const MAX_UPLOADS = 10_000;
/** The longest name of a file that common file systems take. */
const NAME_BYTES = 255;
/** The media type of content about which nothing is said. */
export const ANY_TYPE = "application/octet-stream";
/** Bytes at the beginning of the content, by which its type is recognised. */
export const SNIFFED_BYTES = 4_096;

/**
 * True for the name of one file: no path, at most 255 bytes of UTF-8, nothing that a terminal or a list shows as something
 * else.
 */
export function isFileName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || Buffer.byteLength(name) > NAME_BYTES) return false;
  return PLAIN_TEXT.test(name) && !/[/\\]/.test(name);
}

/** The media type without its parameters, in lower case. */
export function essenceOf(type: string): string {
  return type.split(";", 1)[0]!.trim().toLowerCase();
}
