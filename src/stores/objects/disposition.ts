/** The header that makes an answer a download. */
import contentDisposition from "content-disposition";

/**
 * `Content-Disposition` for a file with this name. Clients that do not read `filename*` get a name in which no character
 * needs an escape, because they differ in how they read escapes.
 */
export function dispositionOf(fileName: string): string {
  return contentDisposition(fileName, { fallback: fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_") });
}
