/** The interface of a fault, and the measurements that all faults share. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "../../../src/domain/ids.ts";
import { until } from "../../support/until.ts";
import { step } from "../load/step.ts";
import type { Load } from "../load/load.ts";
import type { Installation } from "../world/installation.ts";
import type { Node } from "../world/node.ts";
import type { Random } from "../world/random.ts";
import type { ScenarioRecord } from "../scenario-record.ts";
import type { MailboxProbe } from "./mailbox-probe.ts";

export interface FaultContext {
  readonly installation: Installation;
  readonly load: Load;
  readonly random: Random;
  /** Null with the embedded engine: other processes cannot reach its private Redis. */
  readonly probe: MailboxProbe | null;
  readonly record: ScenarioRecord;
  /** The nodes that a fault of this moment has taken as its victims. */
  readonly victims: Set<Node>;
}

export interface Fault {
  readonly name: string;
  /** About how long the fault takes in all, in milliseconds. The mixed load is spread over that time. */
  readonly lastsMs: number;
  /** What the fault takes away. Two faults of one target are never injected at once. */
  readonly target: "worker" | "gateway" | "edge" | "agent" | "redis" | "store" | "all";
  readonly inject: (context: FaultContext) => Promise<void>;
}

export const PROBE_PIPELINE = "probe";
const RECOVERY_DEADLINE_MS = 120_000;
const POLL_MS = 20;
let heldRuns = 0;

/** A running node that no other fault has taken. */
export function pickVictim<T extends Node>({ random, victims }: FaultContext, nodes: readonly T[]): T {
  const victim = random.pick(nodes.filter((node) => node.isRunning && !victims.has(node)));
  victims.add(victim);
  return victim;
}

/**
 * Resolves when the owner of every mailbox takes envelopes and a run that is triggered now has ended. Rejects after 120
 * s.
 */
export async function waitUntilWorking(context: FaultContext): Promise<void> {
  const both = Promise.all([context.probe?.measureLongestWait(), probeRun(context)]);
  const tooLate = sleep(RECOVERY_DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the installation did not recover within ${RECOVERY_DEADLINE_MS} ms`);
  });
  await Promise.race([both, tooLate]);
}

async function probeRun({ load, installation }: FaultContext): Promise<void> {
  const runId = await load.trigger(PROBE_PIPELINE, ["success"]);
  for (;;) {
    if ((await installation.stores.aggregates.loadHead(runId))?.final) return;
    await sleep(POLL_MS);
  }
}

/** Starts a run of one long step on an agent with the label. Resolves when the step is running. */
export async function startHeldRun(
  { load, installation }: FaultContext,
  label: { readonly key: string; readonly value: string },
  beats: number,
): Promise<{ readonly runId: RunId; readonly agentName: string }> {
  const pipeline = `held-${++heldRuns}`;
  const job = { name: "held", agentSelector: { matchLabels: { [label.key]: label.value } } };
  await load.addPipeline(pipeline, { jobs: [{ ...job, steps: [step(installation.ledger, "holds", { beats })] }] });
  const runId = await load.trigger(pipeline, ["success"]);
  const agentId = await until(
    "the step runs",
    async () => {
      const [found] = (await load.run(runId)).jobs;
      return found?.steps[0]?.status === "running" && found.agentId;
    },
    30_000,
  );
  const agents = await installation.stores.identity.listAgents();
  return { runId, agentName: agents.find((agent) => agent.agentId === agentId)!.name };
}
