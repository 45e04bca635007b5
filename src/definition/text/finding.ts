/** Problems that are found while a text is read, before there is a value: their places are offsets into the text. */
import type { DiagnosticCode } from "./diagnostics.ts";

export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** Offsets into the text, from 0; `end` is exclusive. */
  readonly range: readonly [start: number, end: number];
  readonly path: readonly PropertyKey[];
  readonly hint?: string;
}

/** A finding about the whole text, or about `length` characters of it from the offset `start` on. */
export function finding(code: DiagnosticCode, message: string, start: number, length = 0, hint?: string): Finding {
  return { code, message, range: [start, start + length], path: [], ...(hint === undefined ? {} : { hint }) };
}
