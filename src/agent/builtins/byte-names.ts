/** Names of files that are no UTF-8. They cannot be sent or stored under their names, so who meets one has to say so. */
import { isUtf8 } from "node:buffer";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import type { PathPatterns } from "./patterns.ts";

const SLASH = Buffer.from("/");

/** The name as text; undefined when its bytes are no UTF-8. */
export function textOf(name: Buffer): string | undefined {
  return isUtf8(name) ? name.toString() : undefined;
}

/** A name for people, in quotes: each byte that is no printable ASCII appears as `\xe9`. */
export function escapedName(name: Buffer): string {
  const shown = [...name].map((byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c && byte !== 0x22
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, "0")}`,
  );
  return `"${shown.join("")}"`;
}

/** A folder of a workspace, by the bytes of its path. */
export interface ByteFolder {
  /** Relative to the workspace; empty for the workspace itself. */
  readonly path: Buffer;
  readonly at: Buffer;
}

/**
 * The path, for people, of the first file, link or folder at or below an entry that matches the patterns; undefined when
 * there is none. The entry's name is no UTF-8; bytes that are none match as any other character.
 */
export async function findNameless(
  folder: ByteFolder,
  entry: Dirent<Buffer>,
  { matches }: Pick<PathPatterns, "matches">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = folder.path.length === 0 ? entry.name : Buffer.concat([folder.path, SLASH, entry.name]);
  if (matches(path.toString())) return escapedName(path);
  if (!entry.isDirectory()) return undefined;
  signal.throwIfAborted();
  const below = { path, at: Buffer.concat([folder.at, SLASH, entry.name]) };
  for (const each of await readdir(below.at, { withFileTypes: true, encoding: "buffer" })) {
    const found = await findNameless(below, each, { matches }, signal);
    if (found !== undefined) return found;
  }
  return undefined;
}
