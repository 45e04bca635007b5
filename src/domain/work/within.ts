/** A time limit on waiting for an answer. */
import { MillraceError } from "../errors.ts";

/**
 * The answer; throws `unavailable` when none comes within `ms`. The work behind the answer is not stopped. `subject`:
 * the name, for people, of the part that should answer.
 */
export async function within<T>(ms: number, subject: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const error = new MillraceError("unavailable", `${subject} does not answer within ${ms} ms: try again in a moment`);
    timer = setTimeout(reject, ms, error);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
