/** Runs with an approval before a stage or a job, and votes on it. */
import type { ApprovalGate, ApprovalState } from "../../../actors/approval/state.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import { type ApprovalId, approvalId, asId, type CommandId, type UserId } from "../../../src/domain/ids.ts";
import type { PlannedApproval } from "../../../src/domain/plan.ts";
import { approvalOf, planOf, withStageApproval } from "../../support/plans.ts";
import { RUN_ID, SimulatedRun } from "../../support/simulated-run.ts";

export const STAGE: ApprovalGate = { stage: 0 };
export const JOB: ApprovalGate = { job: 0 };
export const HOUR = 3_600_000;

export const idOf = (gate: ApprovalGate): ApprovalId => approvalId(RUN_ID, gate);

export function stateOf(run: SimulatedRun, gate: ApprovalGate): ApprovalState | undefined {
  return run.actors.get(idOf(gate))?.state as ApprovalState | undefined;
}

/** Effects of one vote of the user of that name. */
export function vote(
  run: SimulatedRun,
  gate: ApprovalGate,
  type: "approve" | "reject",
  name: string,
  comment = "",
): readonly OwedEffect[] {
  const voter = { userId: asId<UserId>(`usr_${name}`), name };
  const commandId = asId<CommandId>(`${type}-${name}`);
  return run.tell("approval", idOf(gate), { type, commandId, voter, comment });
}

export function expire(run: SimulatedRun, gate: ApprovalGate, generation = 1): readonly OwedEffect[] {
  run.now += HOUR;
  return run.tell("approval", idOf(gate), { type: "timer", timer: "expiry", generation });
}

export function verdictIn(effects: readonly OwedEffect[]): unknown {
  return effects.flatMap((effect) => (effect.type === "answer" ? [effect.verdict] : []))[0];
}

/** The events of approvals among these effects, each as `lifecycle status`. */
export function eventsIn(effects: readonly OwedEffect[]): readonly string[] {
  return effects.flatMap((effect) =>
    effect.type === "publish" && effect.event.object === "approval"
      ? [`${effect.event.lifecycle} ${effect.event.status}`]
      : [],
  );
}

export const atStage = (rule: Partial<PlannedApproval> = {}): SimulatedRun =>
  new SimulatedRun(withStageApproval(planOf([[{}], [{}]]), 0, approvalOf(rule))).start();
export const atJob = (jobs: Parameters<typeof planOf>[0][number] = [{ approval: approvalOf() }]): SimulatedRun =>
  new SimulatedRun(planOf([jobs])).start();
