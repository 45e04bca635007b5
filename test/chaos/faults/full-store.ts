/** A fault: the embedded store reaches its limit during the load, and the limit is raised later. */
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ADMIN_TOKEN } from "../world/installation.ts";
import { type Fault, type FaultContext, waitUntilWorking } from "./fault.ts";
import { SqliteConnection } from "../../../src/sqlite/connection.ts";

const FULL_MS = 6_000;
const MEGABYTE = 1_000_000;
/** Sizes of the definitions that `fill` saves, until not even the smallest one fits. */
const DEFINITION_KILOBYTES = [400, 40, 4];

/** The node refuses writes with 503 and the reason. Runs wait, and continue when the limit is raised. */
export const fullStore: Fault = {
  name: "the embedded store is full",
  lastsMs: 20_000,
  target: "all",
  async inject(context) {
    const { installation } = context;
    const [node] = installation.workers;
    const { size } = await stat(installation.storeFile);
    context.record.addKill("the room of the store");
    await node!.end("SIGTERM");
    installation.limitStore(`${Math.ceil(size / MEGABYTE) + 1}MB`);
    await node!.start();
    const refusal = await fill(context);
    if (!refusal.includes("is full"))
      context.record.addViolation("wrong", `a write to the full store was answered with ${refusal}`);
    await sleep(FULL_MS);
    await node!.end("SIGTERM");
    installation.limitStore(null);
    const since = performance.now();
    await node!.start();
    await waitUntilWorking(context);
    context.record.addRecovery("room again", performance.now() - since);
    const file = new SqliteConnection(installation.storeFile, { readonly: true });
    const found = file.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: string };
    file.close();
    if (found.integrity_check !== "ok")
      context.record.addViolation("wrong", `the store is damaged: ${found.integrity_check}`);
  },
};

/** Saves definitions until none fits. Answers the last refusal. */
async function fill({ installation, load }: FaultContext): Promise<string> {
  const pipelineId = await load.addPipeline("ballast", { jobs: [{ name: "light", steps: [stepOf("true")] }] });
  const url = `${installation.urls[0]!}/api/v1/pipelines/${pipelineId}/spec/save`;
  let refusal = "";
  for (const kilobytes of DEFINITION_KILOBYTES) {
    for (;;) {
      const spec = { jobs: [{ name: "big", steps: [stepOf(`# ${Math.random()} ${"x".repeat(kilobytes * 1_000)}`)] }] };
      const response = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ spec, format: "yaml" }),
      });
      refusal = await response.text();
      if (response.status !== 200) break;
    }
  }
  return refusal;
}

const stepOf = (script: string) => ({ name: "step", uses: "shell", args: { script } });
