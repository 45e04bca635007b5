/** Which run repeats which: an attempt has one successor, whoever asks for it first. */
import { createHash } from "node:crypto";
import type { RunId } from "../domain/ids.ts";
import type { AggregateHead } from "../stores/aggregates.ts";
import type { AppContext } from "./context.ts";

/** What its creation needs, so that whoever finds it unfinished can finish it. */
export interface Successor {
  readonly runId: RunId;
  readonly scope: "all" | "failed" | "step";
  /** With scope `step`; else empty. */
  readonly stepRunId: string;
  readonly triggeredBy: string;
  readonly actor: string;
}

type Predecessor = Pick<AggregateHead, "rootId" | "origin">;

/** The successor that was claimed; its run may not be there yet. */
export async function findSuccessor({ stores }: AppContext, run: Predecessor): Promise<Successor | undefined> {
  const claimed = await stores.idempotency.find(keyOf(run));
  return claimed && (JSON.parse(claimed.createdId) as Successor);
}

/** Answers the successor that the run has now: this one, or one that was claimed before. */
export async function claimSuccessor(
  { stores, clock }: AppContext,
  run: Predecessor,
  successor: Successor,
): Promise<Successor> {
  const createdId = JSON.stringify(successor);
  const claimed = await stores.idempotency.claim({ key: keyOf(run), bodyHash: "", createdId, at: clock.now() });
  return JSON.parse(claimed.createdId) as Successor;
}

/** The run that repeats this one, or null. */
export async function retriedBy(context: AppContext, run: AggregateHead): Promise<RunId | null> {
  // Only a run that has ended can be repeated.
  const successor = run.final ? await findSuccessor(context, run) : undefined;
  if (successor === undefined) return null;
  const isThere = (await context.stores.aggregates.loadHead(successor.runId)) !== undefined;
  return isThere ? successor.runId : null;
}

function keyOf({ rootId, origin }: Predecessor): string {
  const path = `rerun/${origin.firstRunId ?? rootId}/${origin.attempt + 1}`;
  return createHash("sha256").update(path).digest("hex");
}
