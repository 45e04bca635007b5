/**
 * How many times longer than written a test may take, and wait on a condition: more than 1 in a run of all tests, for
 * files whose deadlines only end what hangs (scripts/test.mjs). Files that hold an installation to a bound get 1.
 */
import Mocha from "mocha";

export const PATIENCE = Number(process.env["MILLRACE_TEST_PATIENCE"] ?? 1);

/** Stretches the timeouts of all tests and hooks that are made after this call. Mocha has no setting for that. */
export function beGenerous(): void {
  if (PATIENCE === 1) return;
  const { prototype } = Mocha.Runnable;
  // oxlint-disable-next-line typescript/unbound-method
  const { timeout } = prototype;
  prototype.timeout = function (this: Mocha.Runnable, ...given: [] | [string | number]) {
    const [limit] = given;
    return Reflect.apply(timeout, this, typeof limit === "number" ? [limit * PATIENCE] : given);
  };
}
