/** Which run repeats which: an attempt has one successor, whoever asks for it first. */
import { createHash } from "node:crypto";
import type { RunId } from "../../domain/ids.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import type { RunsContext } from "./context.ts";

/** What its creation needs, so that whoever finds it unfinished can finish it. */
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

/** The successor that was claimed; its run may not be there yet. */
export async function findSuccessor({ stores }: WithStores<"idempotency">, run: Predecessor): Promise<Successor | undefined> {
  const claimed = await stores.idempotency.find(successionKey(run));
  return claimed && (JSON.parse(claimed.createdId) as Successor);
}

/** Answers the successor that the run has now: this one, or one that was claimed before. */
export async function claimSuccessor(
  { stores, clock }: Pick<RunsContext, "clock"> & WithStores<"idempotency">,
  run: Predecessor,
  successor: Successor,
): Promise<Successor> {
  const createdId = JSON.stringify(successor);
  const claimed = await stores.idempotency.claim({ key: successionKey(run), bodyHash: "", createdId, at: clock.now() });
  return JSON.parse(claimed.createdId) as Successor;
}

/** The run that repeats this one, or null. */
export async function retriedBy(
  context: WithStores<"aggregates" | "idempotency">,
  run: Predecessor & Pick<AggregateHead, "final">,
): Promise<RunId | null> {
  // Only a run that has ended can be repeated.
  const successor = run.final ? await findSuccessor(context, run) : undefined;
  if (successor === undefined || isNobody(successor, run)) return null;
  const isThere = (await context.stores.aggregates.loadHead(successor.runId)) !== undefined;
  return isThere ? successor.runId : null;
}

/** How long a run may take to come that was claimed. */
const UNBORN_MS = 3_600_000;

/**
 * The run that repeats this one and may need what it has left; null when there is none. Then none can come any more: it is
 * claimed by nobody.
 */
export async function neededBy({ stores, clock }: Pick<RunsContext, "clock"> & WithStores<"aggregates" | "idempotency" | "removals">, run: Predecessor): Promise<RunId | null> {
  const nobody: Successor = { runId: run.rootId, scope: "all", stepRunId: "", triggeredBy: "", actor: "" };
  const { createdId, at } = await stores.idempotency.claim({
    key: successionKey(run),
    bodyHash: "",
    createdId: JSON.stringify(nobody),
    at: clock.now(),
  });
  const successor = JSON.parse(createdId) as Successor;
  if (isNobody(successor, run)) return null;
  const { runId } = successor;
  if ((await stores.aggregates.loadHead(runId)) !== undefined) return runId;
  const isAwaited = clock.now() - at < UNBORN_MS && (await stores.removals.find(runId)) === undefined;
  return isAwaited ? runId : null;
}

/** The run is about to be removed. */
export function isNobody(successor: Successor, run: Pick<Predecessor, "rootId">): boolean {
  return successor.runId === run.rootId;
}

/** Of the claim, among the idempotency keys. */
export function successionKey({ rootId, origin }: Predecessor): string {
  const path = `rerun/${origin.firstRunId ?? rootId}/${origin.attempt + 1}`;
  return createHash("sha256").update(path).digest("hex");
}
