/** The part of a content that a request asks for. Source: RFC 9110, section 14 */
import { MillraceError } from "../domain/errors.ts";

/** Bytes `from` to `to`, both included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range that the header asks for; undefined for the whole, which also several ranges and other units are answered
 * with. Throws `range_not_satisfiable` for one that begins behind the end.
 */
export function readRange(header: string, sizeBytes: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.replaceAll(" ", "")) ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  const from = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (from > to) {
    throw new MillraceError("range_not_satisfiable", `the content has ${sizeBytes} bytes, none of them in ${header}`);
  }
  return { from, to };
}
