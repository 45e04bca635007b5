/** The schema of a value of a matrix. It stands apart, because values of a running matrix are checked as well. */
import { z } from "zod";
import { NOT_IN_NAMES } from "../../domain/names.ts";
import { LIMITS } from "./limits.ts";

/** A text of a matrix is a part of the names of jobs, so it has their bounds. */
const matrixText = z.string().regex(new RegExp(`^[^${NOT_IN_NAMES}]{0,${LIMITS.nameChars}}$`, "u"), {
  error: `must be at most ${LIMITS.nameChars} characters on one line, without marks that reorder text`,
});
/** What a matrix axis or entry may have as a value. */
export const matrixValue = z.union([matrixText, z.number(), z.boolean()], {
  error: "must be a string, a number or a boolean",
});
