/** The names that users give to what they make. */
import { z } from "zod";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../domain/names.ts";

/** One line of at most `max` characters that shows something. */
export function givenName(max: number) {
  return z.string().regex(PLAIN_TEXT, PLAIN_TEXT_RULE).regex(/\S/u, "must not be blank").max(max);
}
