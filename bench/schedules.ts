/**
 * `npm run bench:schedules -- [PIPELINES]`: what a schedule of each minute costs on many pipelines, by default 1,000, on SQLite:
 * a look of the owner while no time is due, a minute in which each schedule starts a run, and a minute in which each one skips its
 * time, because the run before it has not ended.
 */
import { createPipeline } from "../src/app/catalogue/pipelines.ts";
import { saveSpec } from "../src/app/catalogue/definitions.ts";
import { saveBody } from "../src/app/catalogue/spec-shapes.ts";
import type { UserCaller } from "../src/app/identity/access.ts";
import { asId } from "../src/domain/ids.ts";
import { SteppedNode } from "../test/support/stepped-node.ts";
import { openTestSqlite } from "../test/support/stores.ts";
import { loadAverage } from "./machine.ts";

const CALLER: UserCaller = { kind: "user", userId: asId("usr_bench"), name: "bench", role: "owner", scopes: [] };
const MINUTE_MS = 60_000;
const LOOKS = 200;
const SKIPPED_MINUTES = 3;
/** As the sweep of an owner asks. */
const PAGE = 1_000;
const count = Number(process.argv[2] ?? 1_000);

const sqlite = await openTestSqlite();
const { stores } = sqlite;
const node = await SteppedNode.open(stores);
try {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const lookMs = async (): Promise<number> => {
    const { cpuMs } = await measured(async () => {
      for (let look = 0; look < LOOKS; look++) await stores.aggregates.pageDue(0, node.now, null, PAGE);
    });
    return cpuMs / LOOKS;
  };
  const without = await lookMs();
  const jobs = [{ name: "build", steps: [{ uses: "shell", args: { script: "true" } }] }];
  const spec = { triggers: { cron: [{ schedule: "* * * * *", overlap: "skip" }] }, jobs };
  const saved = await measured(async () => {
    for (let at = 0; at < count; at++) {
      const { pipelineId } = await createPipeline(node.context, CALLER, { name: `p${at}` });
      await saveSpec(node.context, CALLER, { ...saveBody.parse({ spec }), pipelineId });
    }
    await node.settled();
  });
  say(`${count} definitions with a schedule of each minute saved: CPU of one ${(saved.cpuMs / count).toFixed(2)} ms`);
  say(
    `a look while no time is due: CPU ${(await lookMs()).toFixed(3)} ms, ${without.toFixed(3)} ms without any schedule`,
  );
  const perMinute = (what: string, { cpuMs, tookMs }: Measured, minutes = 1): void =>
    say(
      `a minute in which each of ${count} ${what}: CPU ${(cpuMs / minutes / 1_000).toFixed(2)} s, ` +
        `${(cpuMs / minutes / count).toFixed(2)} ms for one; done in ${(tookMs / minutes / 1_000).toFixed(1)} s`,
    );
  perMinute("starts a run", await measured(() => node.pass(MINUTE_MS)));
  const skipping = await measured(async () => {
    for (let minute = 0; minute < SKIPPED_MINUTES; minute++) await node.pass(MINUTE_MS);
  });
  perMinute("skips its time", skipping, SKIPPED_MINUTES);
  const runs = (await stores.aggregates.findRuns({}, { limit: count + 1 })).list.length;
  if (runs !== count) throw new Error(`${runs} runs instead of ${count}`);
  say(`load ${loadAverage()}`);
} finally {
  await node.stop();
  await sqlite.close();
}

interface Measured {
  readonly cpuMs: number;
  readonly tookMs: number;
}

async function measured(work: () => Promise<void>): Promise<Measured> {
  const [before, since] = [process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1_000, tookMs: performance.now() - since };
}
