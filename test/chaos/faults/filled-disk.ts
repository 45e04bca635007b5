/** A fault: another program takes all that is free on the disk of an embedded installation, and later gives it back. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ADMIN_TOKEN } from "../world/installation.ts";
import { type Fault, type FaultContext, waitUntilWorking } from "./fault.ts";

const FULL_MS = 12_000;
/** How often the program takes what has become free meanwhile. */
const TAKE_MS = 50;
const PIECE = new Uint8Array(65_536);

/** The node lives, answers reads, and refuses what begins something new; afterwards everything goes on by itself. */
export const filledDisk: Fault = {
  name: "no room on the disk of the one process for 12 s",
  lastsMs: 20_000,
  target: "all",
  async inject(context) {
    const { installation, record } = context;
    const file = join(installation.folder, "data", "ballast");
    record.addKill("the room of the disk");
    await record.whileOut(async () => {
      const descriptor = openSync(file, "a");
      try {
        for (const end = performance.now() + FULL_MS; performance.now() < end; await sleep(TAKE_MS)) take(descriptor);
        await look(context);
      } finally {
        closeSync(descriptor);
        rmSync(file);
      }
    });
    const since = performance.now();
    await waitUntilWorking(context);
    record.addRecovery("room on the disk again", performance.now() - since);
  },
};

/** Writes until the disk takes nothing any more. */
function take(descriptor: number): void {
  try {
    for (;;) writeSync(descriptor, PIECE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

async function look({ installation, record }: FaultContext): Promise<void> {
  const ask = (method: "GET" | "POST", body?: object) =>
    fetch(`${installation.urls[0]!}/api/v1/pipelines`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const read = await ask("GET");
  if (read.status !== 200) record.addViolation("wrong", `a read on a full disk was answered with ${read.status}`);
  const write = await ask("POST", { name: "does-not-fit" });
  const text = await write.text();
  if (write.status !== 503 || !/is full \([\d.]+ MiB free\)/.test(text))
    record.addViolation("wrong", `a new pipeline on a full disk was answered with ${write.status} ${text}`);
}
