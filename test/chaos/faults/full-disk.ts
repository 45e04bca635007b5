/** A fault of an agent's disk: the journal cannot grow. */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Fault, pickVictim } from "./fault.ts";
import { agentIdOf } from "./processes.ts";
import { measure } from "./servers.ts";

const FULL_MS = 12_000;
const run = promisify(execFile);

/**
 * The system refuses every write with which the journal would grow, by a limit on the size of files. Unlike a small
 * file system, that needs no special rights; the error is "file too large" instead of "no space left". The limit meets
 * the agent's process only: the launcher and the steps have none. Steps that the agent cannot record do not start.
 */
export const fullDisk: Fault = {
  name: "no room for an agent's journal for 12 s",
  lastsMs: 18_000,
  target: "agent",
  async inject(context) {
    const { installation, record } = context;
    const victim = pickVictim(context, installation.agents);
    const journal = join(installation.folder, victim.name, "journal.jsonl");
    record.addKill(`the disk of ${victim.name}`);
    await record.whileAway(await agentIdOf(context, victim), "refusing", async () => {
      await limit(victim.pid, String((await stat(journal)).size));
      await sleep(FULL_MS);
      await limit(victim.pid, "unlimited");
    });
    await measure(context, "room for the journal");
  },
};

/** Sets the soft limit, so that the process may get its room back. */
async function limit(pid: number, bytes: string): Promise<void> {
  await run("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);
}
