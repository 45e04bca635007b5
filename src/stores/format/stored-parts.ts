/**
 * The parts of the stored format whose shape may change between schemas, and the form of a conversion from one schema
 * to the next.
 */
import type { ActorRef } from "../../domain/effects.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { OwedRecord, RunOrigin } from "../ports/aggregates.ts";

/** The state of an actor as JSON. */
export type StoredState = Readonly<Record<string, unknown>>;

/**
 * Each part is converted alone, because look-ups read single parts. The keys are names of this program and are not
 * stored.
 */
export interface StoredParts {
  readonly owed: readonly OwedRecord[];
  readonly origin: RunOrigin;
  readonly run: StoredState;
  readonly job: StoredState;
  readonly step: StoredState;
  readonly approval: StoredState;
  readonly group: StoredState;
  readonly schedule: StoredState;
  readonly timetable: StoredState;
  readonly plan: RunPlan;
  readonly spec: JobSpec;
  /** A message in a mailbox, with the actor that it is addressed to. */
  readonly message: { readonly to: ActorRef | null; readonly message: unknown };
}

export type Part = keyof StoredParts;

/** Pure functions, one for each part whose shape differs. Each copies the fields that it does not change. */
export type Conversion = { readonly [P in Part]?: (part: StoredParts[P]) => StoredParts[P] };

/** Conversions from one schema to the next and back. `downgrade(upgrade(part))` equals `part`. */
export interface SchemaStep {
  readonly upgrade: Conversion;
  readonly downgrade: Conversion;
}
