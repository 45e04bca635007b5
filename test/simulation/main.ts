import { simulate } from "./simulate.ts";
const [from, n, tracing] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 10), process.argv[4]];
const t0 = performance.now();
let bad = 0, ev = 0;
for (let seed = from; seed < from + n; seed++) {
  try {
  const o = await simulate(seed, tracing as never);
  ev += o.events;
  if (tracing === "all") console.log(o.trace.join("\n"));
  if (o.violations.length) { bad++; console.log(seed, JSON.stringify(o.violations.slice(0, 4).map((v) => v.kind + ": " + v.text)), o.violations.length); }
  } catch (e) { bad++; console.log(seed, e); }
}
console.log({ n, bad, ms: (performance.now() - t0) / n, ev: ev / n });
