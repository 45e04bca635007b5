/** Readiness of a node, which load balancers ask for over HTTP and gRPC without a token. */
import { within } from "../domain/work/within.ts";
import type { AppContext, WithStores } from "./context.ts";

/**
 * Resolves when the node passes the check, with a warning for operators or without one. Rejects when it does not; the
 * text of a {@link NotReadyError} is shown to callers, the text of another error is only logged.
 */
export type ReadinessCheck = () => Promise<string | undefined | void>;

/** Checks that the node needs to pass, by name. */
export type ReadinessChecks = Readonly<Record<string, ReadinessCheck>>;

/** A failed check with a text for callers without a token. */
export class NotReadyError extends Error {}

type ReadinessContext = Pick<AppContext, "log"> & WithStores<"ping">;

const CHECK_WITHIN_MS = 2_000;

export interface Readiness {
  /** Names, sorted. */
  readonly checked: readonly string[];
  readonly failed: readonly string[];
  /** Why a check failed, by its name; absent when no check says more than that it failed. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Warnings of checks that passed, by name; absent when there are none. */
  readonly warnings?: Readonly<Record<string, string>>;
}

/** The outcome of one check. */
interface Outcome {
  readonly passed: boolean;
  /** The reason of a failure, or the warning of a check that passed. */
  readonly text?: string | undefined;
}

/**
 * Runs `checks` and a check of the store. Calls that come while the checks run get the same answer: callers need no
 * token, so many calls must cost little. The reader never rejects; a check that takes longer than 2 s fails.
 */
export function readinessReader(context: ReadinessContext, checks: ReadinessChecks): () => Promise<Readiness> {
  let running: Promise<Readiness> | undefined;
  return () => (running ??= check(context, checks).finally(() => (running = undefined)));
}

async function check(context: ReadinessContext, checks: ReadinessChecks): Promise<Readiness> {
  const all: ReadinessChecks = { store: () => context.stores.ping(), ...checks };
  const checked = Object.keys(all).sort();
  const outcomes = await Promise.all(checked.map((name) => outcomeOf(context, name, all[name]!)));
  const textsOf = (passed: boolean): Readonly<Record<string, string>> =>
    Object.fromEntries(
      outcomes.flatMap((outcome, n) =>
        outcome.passed === passed && outcome.text !== undefined ? [[checked[n]!, outcome.text]] : [],
      ),
    );
  const [reasons, warnings] = [textsOf(false), textsOf(true)];
  return {
    checked,
    failed: checked.filter((_, n) => !outcomes[n]!.passed),
    ...(Object.keys(reasons).length === 0 ? {} : { reasons }),
    ...(Object.keys(warnings).length === 0 ? {} : { warnings }),
  };
}

async function outcomeOf(context: Pick<AppContext, "log">, name: string, check: ReadinessCheck): Promise<Outcome> {
  try {
    const warning = await within(CHECK_WITHIN_MS, name, check());
    return { passed: true, text: warning ?? undefined };
  } catch (error) {
    context.log.warn({ check: name, error: String(error) }, "a readiness check failed");
    return { passed: false, text: error instanceof NotReadyError ? error.message : undefined };
  }
}
