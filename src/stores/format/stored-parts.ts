/** The parts of what is stored whose shape has changed, or may, and how one is made of another. */
import type { ActorRef } from "../../domain/effects.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { OwedRecord, RunOrigin } from "../ports/aggregates.ts";

/** An actor's state as JSON. */
export type StoredState = Readonly<Record<string, unknown>>;

/** Each is converted by itself, since look-ups read single ones. */
export interface StoredParts {
  readonly owed: readonly OwedRecord[];
  readonly origin: RunOrigin;
  readonly run: StoredState;
  readonly job: StoredState;
  readonly step: StoredState;
  readonly approval: StoredState;
  readonly group: StoredState;
  readonly plan: RunPlan;
  readonly spec: JobSpec;
  readonly letter: { readonly to: ActorRef | null; readonly message: unknown };
}

export type Part = keyof StoredParts;

/** Pure functions of the parts that differ; each keeps by spreading what it does not change. */
export type Conversion = { readonly [P in Part]?: (part: StoredParts[P]) => StoredParts[P] };

/** From one schema to the next and back; `downgrade(upgrade(part))` is `part`. */
export interface SchemaStep {
  readonly upgrade: Conversion;
  readonly downgrade: Conversion;
}
