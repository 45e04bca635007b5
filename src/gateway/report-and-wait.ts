/** Reports of agents without an open channel: answered when the step's actor has processed them. */
import { isGrantOf, type StepState } from "../../actors/step/state.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AgentId } from "../domain/ids.ts";
import { reportStep, type StepReport } from "./actor-messages.ts";
import { listenToAgent } from "../board/agent-notices.ts";
import { hasEndedByReport } from "./reconciliation.ts";
import type { GatewayPorts } from "./context.ts";
import { Signal } from "../app/signal.ts";

export type ReportVerdict = "processed" | "refused";

/** Between two looks into the store, milliseconds: the actor's answer may have been lost. */
const LOOK_MS = 1_000;

/**
 * Hands on a report and waits for what becomes of it. A report of the start is answered once the actor's mailbox has
 * it. Throws `unavailable` when there is no answer within `waitMs`; safe to repeat.
 */
export async function reportAndWait(
  context: GatewayPorts,
  agentId: AgentId,
  report: StepReport,
  waitMs: number,
  hungUp: AbortSignal,
): Promise<ReportVerdict> {
  if (report.phase === "started")
    return (await reportStep(context, agentId, report)) === "sent" ? "processed" : "refused";
  const { stepRunId, token } = report;
  const endsAt = context.clock.monotonic() + waitMs;
  const signal = new Signal();
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
      if (verdict === undefined && leftMs > 0 && !hungUp.aborted) await signal.wait(Math.min(LOOK_MS, leftMs), hungUp);
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
