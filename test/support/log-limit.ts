/** The log limit of tests: that of a new installation. */
import type { LogLimit } from "../../src/domain/retention.ts";

export const LOG_LIMIT: LogLimit = { lines: 1_000_000, bytes: 100_000_000 };
