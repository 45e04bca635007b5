/** The part of a content that a request asks for. Source: RFC 9110, section 14. */
import { MillraceError } from "../../domain/errors.ts";

/** Bytes `from` to `to`, both included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The range that the header `Range` asks for; undefined for the whole content. A header with several ranges or with another
 * unit than bytes also gets the whole content. Throws `range_not_satisfiable` when the content has no byte in the range.
 */
export function readRange(header: string, sizeBytes: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.replaceAll(" ", "")) ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  const from = first === "" ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const to = first === "" || last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (from > to) {
    throw new MillraceError(
      "range_not_satisfiable",
      `the range ${header} is outside the content, which has ${sizeBytes} bytes`,
    );
  }
  return { from, to };
}
