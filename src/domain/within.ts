/** Patience with an end, for questions whose answer is of no use when it comes late. */
import { MillraceError } from "./errors.ts";

/**
 * The answer, or `unavailable` when there is none within `ms`; what was asked goes on unheard. `what` names for people who
 * should have answered.
 */
export async function within<T>(ms: number, what: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new MillraceError("unavailable", `${what} does not answer within ${ms} ms: try again in a moment`);
    timer = setTimeout(reject, ms, error);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
