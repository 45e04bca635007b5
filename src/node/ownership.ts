/** What decides whether this node may own shards, and the metrics that say so. */
import type { Registry } from "prom-client";
import { ClockCheck, type ClockCheckOptions } from "../../queues/clock-check.ts";
import { type OwnershipGuard, ownershipGuard } from "../../queues/ownership-guard.ts";
import type { ShardOwner } from "../../queues/shard-owner.ts";
import { StoreReach } from "../../queues/store-reach.ts";
import type { ReadinessCheck } from "../app/readiness.ts";
import { NotReadyError } from "../app/readiness.ts";
import type { Logger } from "../domain/logger.ts";
import type { RedisClient } from "../redis/connect.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { register, registerOne } from "../telemetry/register.ts";
import type { Teardown } from "./teardown.ts";

/** Starts to compare the clocks. Resolves after the first comparison. */
export async function startClockCheck(
  options: ClockCheckOptions & { readonly registry: Registry },
  teardown: Teardown,
): Promise<ClockCheck> {
  const check = new ClockCheck(options);
  teardown.add("the comparison of clocks", () => check.stop());
  await check.start();
  registerOne(options.registry, "millrace_clock_deviation_seconds", () => check.deviationMs / 1_000);
  return check;
}

/** Fails while the clock is wrong, and warns while it is off. */
export function clockReadiness(check: ClockCheck): ReadinessCheck {
  return () => {
    const { reason, warning } = check;
    return reason === null ? Promise.resolve(warning ?? undefined) : Promise.reject(new NotReadyError(reason));
  };
}

export interface OwnershipParts {
  readonly redis: RedisClient;
  readonly nodeId: string;
  readonly stores: Stores;
  readonly clockCheck: ClockCheck | null;
  readonly registry: Registry;
  readonly log: Logger;
}

/**
 * The guard of this worker, and the stores for its kernel: each save that is answered counts as an answer of the store.
 */
export function guardOwnership(parts: OwnershipParts): { readonly guard: OwnershipGuard; readonly stores: Stores } {
  const { stores, clockCheck, registry } = parts;
  const reach = new StoreReach({ ...parts, probe: () => stores.probe() });
  const guard = ownershipGuard(reach, clockCheck);
  register(registry, "millrace_worker_barred", () =>
    (["store", "clock"] as const).map((reason) => [{ reason }, guard.bar === reason ? 1 : 0]),
  );
  return { guard, stores: { ...stores, aggregates: withSavesNoted(stores.aggregates, reach) } };
}

/** Fails while this worker may own no shard, with the reason. */
export function ownershipReadiness(guard: OwnershipGuard): ReadinessCheck {
  return () => {
    const { reason } = guard;
    return reason === null
      ? Promise.resolve(undefined)
      : Promise.reject(new NotReadyError(`it owns no shard: ${reason}`));
  };
}

function withSavesNoted(aggregates: Stores["aggregates"], reach: Pick<StoreReach, "noteAnswer">): Stores["aggregates"] {
  return new Proxy(aggregates, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== "save") return (...args: readonly unknown[]): unknown => Reflect.apply(member, target, args);
      return async (...args: Parameters<typeof target.save>): ReturnType<typeof target.save> => {
        const begunAt = performance.now();
        const outcome = await target.save(...args);
        reach.noteAnswer(begunAt);
        return outcome;
      };
    },
  });
}

/** Rejects, naming the shards, when envelopes do not get through the mailboxes of shards that this node owns. */
export function checkMailboxes(owner: ShardOwner): Promise<void> {
  const stuck = owner.health().filter(({ ok }) => !ok);
  if (stuck.length === 0) return Promise.resolve();
  return Promise.reject(
    new Error(`envelopes do not get through the mailboxes of shards ${stuck.map(({ shard }) => shard).join(", ")}`),
  );
}
