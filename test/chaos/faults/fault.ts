/** What a fault works with, and what it measures. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunId } from "../../../src/domain/ids.ts";
import { until } from "../../support/until.ts";
import { step } from "../load/step.ts";
import type { Load } from "../load/load.ts";
import type { Installation } from "../world/installation.ts";
import type { Random } from "../world/random.ts";
import type { Protocol } from "../protocol.ts";
import type { MailProbe } from "./mail-probe.ts";

export interface FaultContext {
  readonly installation: Installation;
  readonly load: Load;
  readonly random: Random;
  /** Null with the embedded engine, whose Redis nobody else reaches. */
  readonly probe: MailProbe | null;
  readonly protocol: Protocol;
}

export interface Fault {
  readonly name: string;
  /** About how long it takes in all, milliseconds; the mixed load is spread over that time. */
  readonly lastsMs: number;
  readonly strike: (context: FaultContext) => Promise<void>;
}

export const PROBE_PIPELINE = "probe";
const RECOVERY_DEADLINE_MS = 120_000;
const LOOK_MS = 20;
let held = 0;

/** Resolves when every mailbox carries mail, and a run that is triggered now has succeeded. */
export async function worksAgain(context: FaultContext): Promise<void> {
  const both = Promise.all([context.probe?.carriesMail(), probeRun(context)]);
  const tooLate = sleep(RECOVERY_DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`nothing worked again within ${RECOVERY_DEADLINE_MS} ms`);
  });
  await Promise.race([both, tooLate]);
}

async function probeRun({ load, installation }: FaultContext): Promise<void> {
  const runId = await load.trigger(PROBE_PIPELINE, ["success"]);
  for (;;) {
    if ((await installation.stores.aggregates.loadHead(runId))?.final) return;
    await sleep(LOOK_MS);
  }
}

/** A run of one long step on an agent with the label, once it is running there. */
export async function holdAgent(
  { load, installation }: FaultContext,
  label: { readonly key: string; readonly value: string },
  beats: number,
): Promise<{ readonly runId: RunId; readonly agentName: string }> {
  const pipeline = `held-${++held}`;
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
