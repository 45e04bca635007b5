/** The embedded store reaches its limit in the middle of the load, and gets room again. */
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import Libsql from "libsql";
import { ADMIN_TOKEN } from "../world/installation.ts";
import { type Fault, type FaultContext, worksAgain } from "./fault.ts";

const FULL_MS = 6_000;
const MEGABYTE = 1_000_000;
/** Of definitions that are saved until not even a small one fits. */
const KILOBYTES = [400, 40, 4];

/** Writes are refused with 503 and the reason, runs wait, and go on when the limit is raised. */
export const fullStore: Fault = {
  name: "the embedded store is full",
  lastsMs: 20_000,
  async strike(context) {
    const { installation } = context;
    const [plane] = installation.workers;
    const { size } = await stat(installation.storeFile);
    context.protocol.struck("the room for the store");
    await plane!.end("SIGTERM");
    installation.limitStore(`${Math.ceil(size / MEGABYTE) + 1}MB`);
    await plane!.start();
    const refusal = await fill(context);
    if (!refusal.includes("is full")) context.protocol.violated("wrong", `a full store was answered with ${refusal}`);
    await sleep(FULL_MS);
    await plane!.end("SIGTERM");
    installation.limitStore(null);
    const since = performance.now();
    await plane!.start();
    await worksAgain(context);
    context.protocol.recovered("room again", performance.now() - since);
    const file = new Libsql(installation.storeFile, { readonly: true });
    const found = file.prepare("PRAGMA integrity_check").get() as { readonly integrity_check: string };
    file.close();
    if (found.integrity_check !== "ok")
      context.protocol.violated("wrong", `the store is damaged: ${found.integrity_check}`);
  },
};

/** Saves definitions until none fits; answers the last refusal. */
async function fill({ installation, load }: FaultContext): Promise<string> {
  const pipelineId = await load.addPipeline("ballast", { jobs: [{ name: "light", steps: [stepOf("true")] }] });
  const url = `${installation.urls[0]!}/api/v1/pipelines/${pipelineId}/spec/save`;
  let refusal = "";
  for (const kilobytes of KILOBYTES) {
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
