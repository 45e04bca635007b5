/** Reports of agents without an open channel: each call is answered when the step's actor has processed the report. */
import { isGrantOf, type StepState } from "../../actors/step/state.ts";
import type { Timers } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId } from "../domain/ids.ts";
import { reportStep, type StepReport } from "./actor-messages.ts";
import { listenToAgent } from "../board/agent-notices.ts";
import { hasEndedByReport } from "./reconciliation.ts";
import type { GatewayPorts } from "./context.ts";
import { Signal } from "../app/signal.ts";

export type ReportVerdict = "processed" | "refused";

/** Between two reads of the store, in case the actor's answer over the feed is lost. */
const POLL_MS = 1_000;

/**
 * Sends a report to its step and waits for the step's answer. A report of a start is answered as soon as it is in the
 * step's mailbox. Throws `unavailable` when the step has not answered within `waitMs`; safe to repeat.
 */
export async function reportAndWait(
  context: GatewayPorts & { readonly timers?: Timers },
  agentId: AgentId,
  report: StepReport,
  waitMs: number,
  hungUp: AbortSignal,
): Promise<ReportVerdict> {
  if (report.phase === "started")
    return (await reportStep(context, agentId, report)) === "sent" ? "processed" : "refused";
  const { stepRunId, token } = report;
  const endsAt = context.clock.monotonic() + waitMs;
  const signal = new Signal(context.timers);
  let verdict: ReportVerdict | undefined;
  const unsubscribe = await listenToAgent(context, agentId, (notice) => {
    if (notice.type !== "acknowledge" && notice.type !== "refuse") return;
    if (notice.stepRunId !== stepRunId || notice.token !== token) return;
    verdict = notice.type === "acknowledge" ? "processed" : "refused";
    signal.raise();
  });
  try {
    if ((await reportStep(context, agentId, report)) === "refused") return "refused";
    for (;;) {
      const leftMs = endsAt - context.clock.monotonic();
      if (verdict === undefined && leftMs > 0 && !hungUp.aborted) await signal.wait(Math.min(POLL_MS, leftMs), hungUp);
      verdict ??= await storedVerdict(context, agentId, report);
      if (verdict !== undefined) return verdict;
      if (leftMs <= 0 || hungUp.aborted) break;
    }
  } finally {
    await unsubscribe();
  }
  throw new MillraceError("unavailable", `the report of ${stepRunId} is not processed yet: send it again`);
}

async function storedVerdict(
  context: GatewayPorts,
  agentId: AgentId,
  { stepRunId, token }: StepReport,
): Promise<ReportVerdict | undefined> {
  const step = (await context.stores.aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  if (step === undefined || !isGrantOf(step, agentId, token)) return "refused";
  return hasEndedByReport(step) ? "processed" : undefined;
}
