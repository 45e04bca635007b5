/**
 * A module for `--import` that shifts a process's clock by `MILLRACE_TEST_CLOCK_OFFSET_MS`: ahead of the machine's
 * clock, or behind it when the offset is negative. Redis keeps the machine's clock, as a Redis server on another
 * machine would.
 */
const offsetMs = Number(process.env.MILLRACE_TEST_CLOCK_OFFSET_MS ?? 0);
const RealDate = Date;
const now = () => RealDate.now() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
