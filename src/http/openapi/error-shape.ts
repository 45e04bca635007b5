/** The shape of the envelope of errors. */
import { z } from "zod";
import { listOf, shape, wholeNumber } from "../../app/shapes.ts";
import { ERROR_TABLE, type ErrorReason } from "../../domain/errors.ts";

const ProblemShape = shape("Problem", () => ({
  code: z.string(),
  /** JSON pointer (RFC 6901) into the body or the definition. */
  pointer: z.string(),
  message: z.string(),
  line: wholeNumber.exactOptional(),
  column: wholeNumber.exactOptional(),
  /** The included file that the place is in; absent for the definition itself. */
  file: z.string().exactOptional(),
}));

export const ErrorShape = shape("Error", () => ({
  /** The HTTP status. */
  code: z.number().int(),
  errMsg: z.string(),
  path: z.string(),
  timestamp: wholeNumber,
  reason: z.enum(Object.keys(ERROR_TABLE) as ErrorReason[]),
  errors: listOf(ProblemShape),
  /** How many problems there are; present only when `errors` does not list them all. */
  errorCount: wholeNumber.exactOptional(),
}));
