/** The arguments of the builtin `cache`. */
import { createHash } from "node:crypto";
import { CACHE_KEY_LENGTH } from "../../../domain/caches.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { findFiles } from "../artifact/artifact-files.ts";
import { readCachePaths } from "./cache-paths.ts";
import type { PathPatterns } from "../patterns.ts";

export interface CacheArgs {
  readonly key: string;
  /** Patterns of the files whose checksum is appended to the key. */
  readonly keyFiles: readonly string[];
  readonly restoreKeys: readonly string[];
  /** The patterns as the definition has them. */
  readonly paths: readonly string[];
  readonly patterns: PathPatterns;
}

/** Checks the arguments. Throws `malformed_request` for the first that is wrong. */
export function readCacheArgs({
  key,
  keyFiles = [],
  restoreKeys = [],
  paths,
  ...others
}: Readonly<Record<string, unknown>>): CacheArgs {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`does not know "${unknown}"`);
  if (!isKey(key)) throw wrong(`takes a text of 1 to ${CACHE_KEY_LENGTH} characters as key`);
  if (!isListOf(restoreKeys, isKey)) throw wrong("takes a list of texts as restoreKeys");
  if (!isListOf(keyFiles, isText)) throw wrong("takes a list of patterns as keyFiles");
  if (!isListOf(paths, isText) || paths.length === 0) throw wrong("takes a list of patterns as paths");
  return { key, keyFiles, restoreKeys, paths, patterns: readCachePaths(paths, (text) => wrong(`paths: ${text}`)) };
}

/**
 * The key of the entry. With `keyFiles`, a dash and the SHA-256 of their paths and contents are appended. Rejects with
 * `malformed_request` when no file matches, or when the key becomes too long.
 */
export async function keyOf({ key, keyFiles }: CacheArgs, workspace: string, signal: AbortSignal): Promise<string> {
  if (keyFiles.length === 0) return key;
  const files = await findFiles(workspace, keyFiles, signal);
  if (files.length === 0)
    throw wrong(`keyFiles: no file matches ${keyFiles.map((each) => JSON.stringify(each)).join(", ")}`);
  const hash = createHash("sha256");
  for (const { path, sha256 } of files) hash.update(`${sha256} ${path}\n`);
  const whole = `${key}-${hash.digest("hex")}`;
  if (!isKey(whole)) throw wrong(`takes at most ${CACHE_KEY_LENGTH} characters as key, with the 65 of keyFiles`);
  return whole;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isKey = (value: unknown): value is string => isText(value) && value.length <= CACHE_KEY_LENGTH;

function isListOf(value: unknown, isOne: (each: unknown) => each is string): value is readonly string[] {
  return Array.isArray(value) && value.every(isOne);
}

function wrong(what: string): MillraceError {
  return new MillraceError("malformed_request", `cache ${what}`);
}
