/**
 * Simulates seeds: `npm run simulate -- --seeds N --from M` many of them, `npm run simulate -- --seed N` one, and with
 * `--trace` every event of it. Ends with status 1 when a rule was violated.
 */
import { parseArgs } from "node:util";
import { describeFailure, type Outcome, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
  },
});

const failed = await (values.seed === undefined
  ? many(Number(values.from), Number(values.seeds))
  : one(Number(values.seed)));
process.exitCode = failed ? 1 : 0;

async function one(seed: number): Promise<boolean> {
  const outcome = await simulate(seed, values.trace ? "all" : "last");
  if (values.trace) console.log(outcome.trace.join("\n"));
  const { violations, runs, events, tookMs, traceHash, faults } = outcome;
  console.log(`seed ${seed}: ${runs} runs, ${events} events in ${seconds(tookMs)} of virtual time, trace ${traceHash}`);
  console.log(`faults: ${JSON.stringify(faults)}`);
  if (violations.length === 0) return false;
  console.log(describeFailure({ ...outcome, trace: values.trace ? [] : outcome.trace }));
  return true;
}

async function many(from: number, seeds: number): Promise<boolean> {
  const begunAt = performance.now();
  const usedBefore = process.cpuUsage();
  const failed: Outcome[] = [];
  let runs = 0;
  let events = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const outcome = await simulate(seed);
    runs += outcome.runs;
    events += outcome.events;
    if (outcome.violations.length === 0) continue;
    failed.push(outcome);
    for (const { kind, text } of outcome.violations.slice(0, 3)) console.log(`seed ${seed}: ${kind}: ${text}`);
  }
  const { user, system } = process.cpuUsage(usedBefore);
  const rate = Math.round((seeds / (user + system)) * 60_000_000);
  console.log(`${seeds} seeds from ${from}: ${runs} runs, ${events} events, ${seconds(performance.now() - begunAt)}`);
  console.log(`${rate} seeds a minute of processor time`);
  const [first] = failed;
  if (first === undefined) return false;
  console.log(`${failed.length} seeds failed: ${failed.map(({ seed }) => seed).join(", ")}`);
  console.log(describeFailure(await simulate(first.seed, "last")));
  return true;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
