/** Faults of the disk below Redis: its append-only file ends in the middle of a command, as after a power loss. */
import { readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "../../support/until.ts";
import type { Fault, FaultContext } from "./fault.ts";
import { kill, restart } from "./processes.ts";
import { measure } from "./servers.ts";

const MOST_BYTES = 3_000;

export const tearFile: Fault = {
  name: "SIGKILL of Redis, and the end of its file is torn off",
  lastsMs: 8_000,
  target: "redis",
  async inject(context) {
    const { redis } = context.installation;
    const client = new Redis(redis!.url);
    const [, folder] = (await client.config("GET", "dir")) as [string, string];
    client.disconnect();
    context.record.addKill("Redis and the end of its file");
    await redis!.kill();
    await tear(context, folder);
    await redis!.restart();
    await measure(context, "Redis with a torn file");
  },
};

/** The node is killed with its private Redis, whose file loses its end before the next start. */
export const tearEmbeddedFile: Fault = {
  name: "SIGKILL of the one process and its Redis, and the end of Redis' file is torn off",
  lastsMs: 8_000,
  target: "all",
  async inject(context) {
    const { installation } = context;
    const [node] = installation.workers;
    const folder = join(installation.folder, "data", "redis");
    const { pid } = JSON.parse(await readFile(join(folder, "server.json"), "utf8")) as { readonly pid: number };
    const since = await kill(context, node!);
    process.kill(pid, "SIGKILL");
    await until("Redis has ended", () =>
      stat(`/proc/${pid}`).then(
        () => false,
        () => true,
      ),
    );
    await tear(context, folder);
    await restart(context, node!, "restart with a torn file", since);
  },
};

/** Cuts the newest append-only file below `folder`, mostly in the middle of a command. */
async function tear({ random, record }: FaultContext, folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".incr.aof")).toSorted();
  const file = files.at(-1);
  if (file === undefined) {
    record.addViolation("wrong", `there is no append-only file in ${folder}: the scenario showed nothing`);
    return;
  }
  const { size } = await stat(join(folder, file));
  const cut = random.between(1, Math.min(MOST_BYTES, size));
  await truncate(join(folder, file), size - cut);
  record.say(`  ${cut} bytes of ${size} are torn off ${file}`);
}
