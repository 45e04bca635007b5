/** The shape of the labels of an agent, those that it tells and those that operators give. */
import { z } from "zod";

const MAX_LABELS = 64;

export const agentLabels = z
  .record(z.string().min(1).max(128), z.string().max(256))
  .refine((record) => Object.keys(record).length <= MAX_LABELS, `must be at most ${MAX_LABELS}`);
