/** Diagnostics: what a validator says of a definition. They are collected and never thrown. */

export const DIAGNOSTIC_CODES = [
  "alias-limit",
  "cyclic-needs",
  "depth-limit",
  "diagnostic-limit",
  "duplicate-key",
  "duplicate-name",
  "evaluation-failed",
  "expression-misplaced",
  "expression-syntax",
  "inexact-number",
  "invalid-args",
  "invalid-duration",
  "invalid-matrix",
  "invalid-path",
  "invalid-selector",
  "invalid-type",
  "invalid-uses",
  "invalid-value",
  "jobs-or-stages",
  "matrix-limit",
  "missing-key",
  "needs-limit",
  "not-a-map",
  "not-supported-yet",
  "plan-limit",
  "script-injection",
  "size-limit",
  "step-limit",
  "syntax",
  "undefined-value",
  "unknown-context",
  "unknown-function",
  "unknown-job",
  "unknown-key",
] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** JSON pointer (RFC 6901) to what the message speaks of. */
  readonly pointer: string;
  /** Position in the text, from 1. */
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** What to do; absent when the message says it. */
  readonly hint?: string;
}

/** A path of keys and indices as a JSON pointer. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
