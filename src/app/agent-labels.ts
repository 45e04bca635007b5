/** The shape of the labels of an agent, those that it tells and those that operators give. */
import { z } from "zod";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../domain/names.ts";

const MAX_LABELS = 64;

const plainText = (maxChars: number) => z.string().max(maxChars).regex(PLAIN_TEXT, PLAIN_TEXT_RULE);

export const agentLabels = z
  .record(plainText(128).min(1), plainText(256))
  .refine((record) => Object.keys(record).length <= MAX_LABELS, `must be at most ${MAX_LABELS}`);
