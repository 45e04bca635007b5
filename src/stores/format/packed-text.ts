/**
 * Records of a run as compressed bytes. They are small, so each is compressed against a dictionary of the texts that such records
 * have in common. The first byte names the dictionary: it is part of the stored form and never changes, and a better one gets the
 * next number.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DICTIONARY } from "./packing-dictionary.ts";
import { MillraceError } from "../../domain/errors.ts";
import { ShortDeflate } from "./short-deflate.ts";

/** The number of {@link DICTIONARY}. */
const FIRST = 1;
/** A longer text stays as it is: packing it would hold the event loop. */
const MAX_CHARS = 16 * 1024;
/** A longer text is shorter with codes of its own, which zlib makes. */
const MAX_SHORT_CHARS = 2_048;
const SHORT = new ShortDeflate(DICTIONARY, MAX_SHORT_CHARS);
/** Measured with records of real runs: the default takes a third more time, and saves 2 % of the bytes. */
const DEFLATE = { dictionary: DICTIONARY, level: 3, windowBits: 13, memLevel: 3 } as const;
const INFLATE = { dictionary: DICTIONARY } as const;

/**
 * JSON as packed bytes; the text itself when it is long. `known` are texts that the reader knows, such as the ids of the record's
 * key: the bytes do not hold them. The packed text stands behind `room` bytes, which are for the caller.
 */
export function packText(json: string, known: readonly string[] = [], room = 0): string | Uint8Array {
  if (json.length > MAX_CHARS) return json;
  const text = withMarks(json, known);
  const packed = text.length <= MAX_SHORT_CHARS ? SHORT.deflate(text) : deflateRawSync(text, DEFLATE);
  const bytes = new Uint8Array(room + 1 + packed.length);
  bytes[room] = FIRST;
  bytes.set(packed, room + 1);
  return bytes;
}

/**
 * The reverse of {@link packText}, with the same `known`. Throws `unavailable` for bytes that a newer version has packed, and an
 * error for damaged ones.
 */
export function unpackText(stored: string | Uint8Array, known: readonly string[] = []): string {
  if (typeof stored === "string") return stored;
  if (stored[0] !== FIRST) {
    throw new MillraceError(
      "unavailable",
      `a record was packed with dictionary ${stored[0]} by a newer version, and this node knows only ${FIRST}: upgrade this node`,
    );
  }
  const text = inflateRawSync(stored.subarray(1), INFLATE).toString();
  return known.reduce((json, one, at) => (one === "" ? json : json.replaceAll(markOf(at), () => one)), text);
}

function withMarks(json: string, known: readonly string[]): string {
  return known.reduce((text, one, at) => (one === "" ? text : text.replaceAll(one, markOf(at))), json);
}

/** Control characters, which JSON has only as escapes. */
function markOf(at: number): string {
  return String.fromCharCode(at + 1);
}
