import { MillraceError } from "../../src/domain/errors.ts";

/** `done`, the reason of the error with which the promise rejects, or the text of another error. */
export function outcomeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "done",
    (error: unknown) => (error instanceof MillraceError ? error.reason : String(error)),
  );
}
