/** Whether a node is of use now: asked by load balancers over HTTP and gRPC, who have no token. */
import { within } from "../domain/within.ts";
import type { AppContext, WithStores } from "./context.ts";

/** What must answer for the node to be of use, by name; each resolves when all is well. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

type ReadinessContext = Pick<AppContext, "log"> & WithStores<"ping">;

const CHECK_WITHIN_MS = 2_000;

export interface Readiness {
  /** Names, sorted. */
  readonly checked: readonly string[];
  readonly failed: readonly string[];
}

/** Asks the store and `checks`; whoever asks meanwhile gets the same answer, so that strangers cost little. Never rejects. */
export function readinessReader(context: ReadinessContext, checks: ReadinessChecks): () => Promise<Readiness> {
  let asking: Promise<Readiness> | undefined;
  return () => (asking ??= ask(context, checks).finally(() => (asking = undefined)));
}

async function ask(context: ReadinessContext, checks: ReadinessChecks): Promise<Readiness> {
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
