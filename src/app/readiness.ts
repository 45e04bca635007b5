/** Readiness of a node, which load balancers ask for over HTTP and gRPC without a token. */
import { within } from "../domain/within.ts";
import type { AppContext, WithStores } from "./context.ts";

/** Checks that the node needs to pass, by name. Each resolves when it passes and rejects when it fails. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

type ReadinessContext = Pick<AppContext, "log"> & WithStores<"ping">;

const CHECK_WITHIN_MS = 2_000;

export interface Readiness {
  /** Names, sorted. */
  readonly checked: readonly string[];
  readonly failed: readonly string[];
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
  const passed = await Promise.all(checked.map((name) => passes(context, name, all[name]!)));
  return { checked, failed: checked.filter((_, n) => !passed[n]) };
}

async function passes(context: Pick<AppContext, "log">, name: string, check: () => Promise<void>): Promise<boolean> {
  try {
    await within(CHECK_WITHIN_MS, name, check());
    return true;
  } catch (error) {
    context.log.warn({ check: name, error: String(error) }, "a readiness check failed");
    return false;
  }
}
