/**
 * For `--import`: gives a process a clock that is `MILLRACE_TEST_CLOCK_OFFSET_MS` ahead of the machine's, or behind it
 * when that is negative. Redis keeps the machine's clock, as a server on another machine would.
 */
const offsetMs = Number(process.env.MILLRACE_TEST_CLOCK_OFFSET_MS ?? 0);
const RealDate = Date;
const now = () => RealDate.now() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
