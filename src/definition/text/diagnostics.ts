/** Diagnostics: the problems that the validator finds in a definition. They are collected and never thrown. */

/** Published: a code never changes its meaning. docs/diagnostics.md has a section for each. */
export const DIAGNOSTIC_CODES = [
  "alias-limit",
  "constant-condition",
  "container-required",
  "cyclic-include",
  "cyclic-needs",
  "depth-limit",
  "diagnostic-limit",
  "duplicate-key",
  "duplicate-name",
  "evaluation-failed",
  "expression-limit",
  "expression-misplaced",
  "expression-syntax",
  "include-limit",
  "inexact-number",
  "invalid-approval",
  "invalid-args",
  "invalid-call",
  "invalid-container",
  "invalid-cron",
  "invalid-duration",
  "invalid-event",
  "invalid-image",
  "invalid-include",
  "invalid-input",
  "invalid-matrix",
  "invalid-notification",
  "invalid-path",
  "invalid-pattern",
  "invalid-retry",
  "invalid-selector",
  "invalid-source",
  "invalid-type",
  "invalid-uses",
  "invalid-value",
  "jobs-or-stages",
  "matrix-limit",
  "missing-key",
  "moving-image",
  "needs-limit",
  "no-hook",
  "not-a-map",
  "plan-limit",
  "removed-key",
  "reserved-key",
  "script-injection",
  "size-limit",
  "snapshot-limit",
  "step-limit",
  "syntax",
  "type-mismatch",
  "undefined-value",
  "unknown-action",
  "unknown-context",
  "unknown-function",
  "unknown-job",
  "unknown-key",
  "unknown-plugin",
  "unknown-plugin-version",
  "unknown-property",
  "unknown-step",
  "unknown-word",
] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** One problem, with its place in the text as it was written. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** JSON pointer (RFC 6901) to the value or key that the message is about. */
  readonly pointer: string;
  /** Position in the text; lines and columns count from 1. */
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** What to do; absent when the message itself says what to do. */
  readonly hint?: string;
  /** The included file that the place is in; absent for the definition itself. */
  readonly file?: string;
}
