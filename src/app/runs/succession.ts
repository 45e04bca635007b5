/**
 * Links each run to its rerun. A run has at most one successor: the first call that claims the succession
 * decides it, and the claim is stored among the idempotency keys.
 */
import { createHash } from "node:crypto";
import type { RunId } from "../../domain/ids.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import type { RunsContext } from "./context.ts";

/** A rerun as it was claimed: any later call finds here what it needs to finish an unfinished creation. */
export interface Successor {
  readonly runId: RunId;
  readonly scope: "all" | "failed" | "step";
  /** With scope `step`; else empty. */
  readonly stepRunId: string;
  readonly triggeredBy: string;
  readonly actor: string;
}

interface Predecessor {
  readonly rootId: RunId;
  readonly origin: Pick<AggregateHead["origin"], "firstRunId" | "attempt">;
}

/** The claimed successor of a run, whose run may not be stored yet; undefined when none is claimed. */
export async function findSuccessor(
  { stores }: WithStores<"idempotency">,
  run: Predecessor,
): Promise<Successor | undefined> {
  const claimed = await stores.idempotency.find(successionKey(run));
  return claimed && (JSON.parse(claimed.createdId) as Successor);
}

/**
 * Claims the succession of a run. Answers the successor that the run has now: this one, or the one that was claimed
 * before.
 */
export async function claimSuccessor(
  { stores, clock }: Pick<RunsContext, "clock"> & WithStores<"idempotency">,
  run: Predecessor,
  successor: Successor,
): Promise<Successor> {
  const createdId = JSON.stringify(successor);
  const claimed = await stores.idempotency.claim({ key: successionKey(run), bodyHash: "", createdId, at: clock.now() });
  return JSON.parse(claimed.createdId) as Successor;
}

/** The stored rerun of this run, or null. */
export async function findRerun(
  context: WithStores<"aggregates" | "idempotency">,
  run: Predecessor & Pick<AggregateHead, "final">,
): Promise<RunId | null> {
  // Only a run that has ended can be run again.
  const successor = run.final ? await findSuccessor(context, run) : undefined;
  if (successor === undefined || isSealed(successor, run)) return null;
  const isStored = (await context.stores.aggregates.loadHead(successor.runId)) !== undefined;
  return isStored ? successor.runId : null;
}

/** How long a claimed successor counts as needing this run while its own run is not stored. */
const MAX_CREATION_MS = 3_600_000;

/**
 * Seals the succession of a run that is about to be removed, so that no rerun of it can be created any more. Answers
 * the rerun that exists or is being created instead, which may need what the run has left; null when the succession is
 * sealed or the rerun is gone.
 */
export async function sealSuccession(
  { stores, clock }: Pick<RunsContext, "clock"> & WithStores<"aggregates" | "idempotency" | "removals">,
  run: Predecessor,
): Promise<RunId | null> {
  const seal: Successor = { runId: run.rootId, scope: "all", stepRunId: "", triggeredBy: "", actor: "" };
  const { createdId, at } = await stores.idempotency.claim({
    key: successionKey(run),
    bodyHash: "",
    createdId: JSON.stringify(seal),
    at: clock.now(),
  });
  const successor = JSON.parse(createdId) as Successor;
  if (isSealed(successor, run)) return null;
  const { runId } = successor;
  if ((await stores.aggregates.loadHead(runId)) !== undefined) return runId;
  const mayBeCreated = clock.now() - at < MAX_CREATION_MS && (await stores.removals.find(runId)) === undefined;
  return mayBeCreated ? runId : null;
}

/** True when the succession is sealed: the run claimed it for itself because it is about to be removed. */
export function isSealed(successor: Successor, run: Pick<Predecessor, "rootId">): boolean {
  return successor.runId === run.rootId;
}

/** The idempotency key of the claim. A run and its reruns share `firstRunId`, and the attempt tells them apart. */
export function successionKey({ rootId, origin }: Predecessor): string {
  const path = `rerun/${origin.firstRunId ?? rootId}/${origin.attempt + 1}`;
  return createHash("sha256").update(path).digest("hex");
}
