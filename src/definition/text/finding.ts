/** What is found before there is a value: problems with their place as offsets into the text. */
import type { DiagnosticCode } from "./diagnostics.ts";

export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly range: readonly [start: number, end: number];
  readonly path: readonly PropertyKey[];
  readonly hint?: string;
}

export function finding(code: DiagnosticCode, message: string, start: number, length = 0, hint?: string): Finding {
  return { code, message, range: [start, start + length], path: [], ...(hint === undefined ? {} : { hint }) };
}
