/** The shape of a problem of a definition. */
import { z } from "zod";
import { DIAGNOSTIC_CODES } from "../../definition/text/diagnostics.ts";
import { shape, wholeNumber } from "../shapes.ts";

export const DiagnosticShape = shape("Diagnostic", () => ({
  code: z.enum(DIAGNOSTIC_CODES),
  severity: z.enum(["error", "warning"]),
  message: z.string(),
  /** JSON pointer (RFC 6901) to the value or key that the message is about. */
  pointer: z.string(),
  /** Position in the text; lines and columns count from 1. */
  line: wholeNumber,
  column: wholeNumber,
  endLine: wholeNumber,
  endColumn: wholeNumber,
  /** What to do; absent when the message itself says what to do. */
  hint: z.string().exactOptional(),
  /** The included file that the place is in; absent for the definition itself. */
  file: z.string().exactOptional(),
}));
