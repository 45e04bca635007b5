/** What a command on the machine leaves in the audit log: its actor is the user of the system who calls it. */
import { hostname, userInfo } from "node:os";
import { RefusalBounds } from "../../audit/refusal-bounds.ts";
import { Trail } from "../../audit/trail.ts";
import { systemClock } from "../../domain/clock.ts";
import type { Stores } from "../../stores/ports/stores.ts";

export function machineTrail({ audit }: Pick<Stores, "audit">, operation: string): Trail {
  const ground = {
    store: audit,
    clock: systemClock,
    // The command itself tells what went wrong.
    log: { error: () => {} },
    refusals: new RefusalBounds(systemClock),
    tenantOf: () => Promise.resolve(null),
  };
  return new Trail(ground, {
    operation,
    actor: { kind: "operator", id: null, name: systemUser(), proof: null },
    from: { door: "machine", address: hostname().slice(0, 64), userAgent: null },
    requestId: null,
  });
}

/** A container may run under a number that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "");
  }
}
