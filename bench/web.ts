/**
 * `npm run bench:web [-- --long] [-- --only live]`: how the web page keeps up in a real browser, on an installation that the
 * command starts. Exit status 1: a bound was missed. `--long` follows a live run for 10 minutes instead of one. `--only`:
 * `run`, `log`, `replay` or `live`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { shell, Showcase } from "../test/web/showcase.ts";
import { loadAverage } from "./machine.ts";

const JOBS = 1_000;
const LONG_LOG = 1_000_000;
const LIVE_PER_SECOND = 2_000;
const REPLAYED = 10_000;
const PAINT_MS = 1_000;
const LAST_LINE_MS = 500;
const FRAME_MS = 100;
/** What the heap may grow by between the first and the last measurement of a live log. */
const HEAP_GROWTH = 1.25;
const TRIES = 5;
const HEAP_EVERY_MS = 10_000;
/** The page keeps 12,000 lines in memory; until it has them its heap grows. */
const FULL_LINES = 15_000;

/** Keeps the longest time between two frames, and the longest task of 50 ms or more, from the moment that the page begins. */
const FRAME_WATCH = `(() => {
  let last;
  globalThis.restartFrames = () => {
    last = undefined;
    globalThis.frames = { longest: 0, over: 0, longestTask: 0 };
  };
  restartFrames();
  const tick = (now) => {
    const { frames } = globalThis;
    if (last !== undefined) {
      frames.longest = Math.max(frames.longest, now - last);
      if (now - last > ${FRAME_MS}) frames.over++;
    }
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) frames.longestTask = Math.max(frames.longestTask, duration);
  }).observe({ type: "longtask" });
})()`;

interface Frames {
  readonly longest: number;
  readonly over: number;
  readonly longestTask: number;
}

const { values } = parseArgs({ options: { long: { type: "boolean", default: false }, only: { type: "string" } } });
const followedMs = values.long ? 600_000 : 60_000;
const missed: string[] = [];

function tell(name: string, value: number, unit: string, most?: number): void {
  const bound = most === undefined ? "" : `  (at most ${most})`;
  console.log(`${name.padEnd(58)}${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}${bound}`);
  if (most !== undefined && value > most) missed.push(name);
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!;

/** Writes lines at a steady pace, and catches up when it was late. */
const writer = (perSecond: number, seconds: number): string =>
  `"${process.execPath}" -e '
    const begin = Date.now(); let line = 0;
    const timer = setInterval(() => {
      const due = Math.min(${perSecond * seconds}, (Date.now() - begin) * ${perSecond / 1_000});
      let text = "";
      while (line < due) text += "live line " + ++line + " of a build that says what it does\\n";
      process.stdout.write(text);
      if (line >= ${perSecond * seconds}) clearInterval(timer);
    }, 20);'`;

console.log(`Node ${process.versions.node}, load average before: ${loadAverage()}`);
const showcase = await Showcase.start();
try {
  await showcase.call("PUT", "/settings", { values: { "log.lines": 4_000_000 } });
  const page = await showcase.page();
  await page.addInitScript(FRAME_WATCH);
  const parts = { run: measureLargeRun, log: measureLongLog, replay: measureReplay, live: measureLive };
  for (const [name, measure] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) await measure(page);
  }
  console.log(`load average after: ${loadAverage()}`);
  for (const name of missed) console.log(`missed: ${name}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await showcase.end();
}

async function start(name: string, jobs: readonly object[]): Promise<string> {
  return showcase.trigger(await showcase.installation.pipeline(name, jobs));
}

async function stepOf(runId: string): Promise<string> {
  const run = await showcase.call("GET", `/pipelines/runs/${runId}`);
  return `/runs/${runId}/steps/${run.jobs[0].steps[0].stepRunId}`;
}

async function framesOf(page: Page): Promise<Frames> {
  return page.evaluate("globalThis.frames");
}

/** From the request for the page until what `shown` finds is there, in milliseconds. */
async function opened(page: Page, address: string, shown: string): Promise<number> {
  const begin = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await page.locator(shown).first().waitFor();
  return performance.now() - begin;
}

async function measureLargeRun(page: Page): Promise<void> {
  const jobs = Array.from({ length: JOBS }, (_, at) => ({
    name: `job ${at}`,
    agentSelector: { matchLabels: { gpu: "yes" } },
    steps: [shell("run", "echo")],
  }));
  const runId = await start("thousand", jobs);
  const paints: number[] = [];
  const shown: number[] = [];
  for (let turn = 0; turn < TRIES; turn++) {
    await page.goto("/me");
    await showcase.settled(page);
    shown.push(await opened(page, `/runs/${runId}`, "main [data-status=queued]"));
    paints.push(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
  }
  tell(`first paint of a run of ${JOBS} jobs`, median(paints), "ms", PAINT_MS);
  tell(`its jobs are shown`, median(shown), "ms", PAINT_MS);
  const { pipelineId } = await showcase.call("GET", `/pipelines/runs/${runId}`);
  await showcase.call("POST", `/pipelines/${pipelineId}/runs/${runId}/stop`, {});
}

async function measureLongLog(page: Page): Promise<void> {
  const runId = await start("long", [
    { name: "count", steps: [shell("seq", `seq -f 'line %.0f of a long build' 1 ${LONG_LOG}`)] },
  ]);
  await showcase.waitFor(runId, "success");
  const address = await stepOf(runId);
  const { pipelineId } = await showcase.call("GET", `/pipelines/runs/${runId}`);
  // The last lines of a log may come after the end of its step.
  for (let lines = 0; lines < LONG_LOG; await sleep(500)) {
    ({ lines } = await showcase.call("GET", `/pipelines/${pipelineId}${address}/logs?tail=1`));
  }
  const times: number[] = [];
  for (let turn = 0; turn < TRIES; turn++) {
    await page.goto("/me");
    await showcase.settled(page);
    times.push(await opened(page, address, `[data-line='${LONG_LOG}']`));
  }
  tell(`last line of a log of ${LONG_LOG} lines`, median(times), "ms", LAST_LINE_MS);
}

async function measureReplay(page: Page): Promise<void> {
  const script = `seq -f 'replayed line %.0f' 1 ${REPLAYED}; sleep 8; echo end`;
  const runId = await start("replayed", [{ name: "write", steps: [shell("write", script)] }]);
  await page.goto("/me");
  const last = async (): Promise<boolean> => {
    const run = await showcase.call("GET", `/pipelines/runs/${runId}`);
    const step = run.jobs[0]?.steps[0];
    if (step === undefined) return false;
    const path = `/pipelines/${run.pipelineId}/runs/${runId}/steps/${step.stepRunId}/logs?tail=1`;
    return (await showcase.call("GET", path)).lines >= REPLAYED;
  };
  while (!(await last())) await sleep(50);
  await page.goto(await stepOf(runId));
  await page.locator(`[data-line='${REPLAYED}']`).waitFor();
  await page.locator(`[data-line='${REPLAYED + 1}']`).waitFor();
  const { longest } = await framesOf(page);
  tell(`longest frame while ${REPLAYED} lines are replayed`, longest, "ms", FRAME_MS);
}

async function measureLive(page: Page): Promise<void> {
  const runId = await start("live", [
    { name: "talk", steps: [shell("say", writer(LIVE_PER_SECOND, followedMs / 1_000 + 5))] },
  ]);
  await page.goto(`/runs/${runId}`);
  await page.locator("main [data-status=running]").first().waitFor();
  await page.goto(await stepOf(runId));
  await page.locator("[data-line]").first().waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const heaps: number[] = [];
  let [longest, over, longestTask] = [0, 0, 0];
  await page.evaluate("restartFrames()");
  const before = await workOf(session);
  const begin = performance.now();
  while (performance.now() - begin < followedMs) {
    await sleep(HEAP_EVERY_MS);
    const frames = await framesOf(page);
    longest = Math.max(longest, frames.longest);
    over += frames.over;
    longestTask = Math.max(longestTask, frames.longestTask);
    const heap = await heapOf(session);
    if ((await newestLine(page)) >= FULL_LINES) heaps.push(heap);
    // The collection of garbage that the measurement asks for is no work of the page, nor is the frame that it delays.
    await page.evaluate("restartFrames()");
  }
  const work = ((await workOf(session)) - before) / ((performance.now() - begin) / 1_000);
  const newest = await newestLine(page);
  tell("newest line that the page shows", newest, "");
  tell("lines behind what was written", LIVE_PER_SECOND * ((performance.now() - begin) / 1_000) - newest, "");
  tell(`longest frame at ${LIVE_PER_SECOND} live lines/s`, longest, "ms", FRAME_MS);
  tell("frames over the bound", over, "");
  tell("longest task of the page, 0 below 50", longestTask, "ms");
  tell("processor time of the page's thread", work, "ms/s");
  tell(`heap after ${FULL_LINES} lines`, heaps[0]! / 1e6, "MB");
  tell("heap at the end", heaps.at(-1)! / 1e6, "MB");
  tell("growth", heaps.at(-1)! / heaps[0]!, "", HEAP_GROWTH);
}

async function newestLine(page: Page): Promise<number> {
  return Number(await page.locator("[data-line]").last().getAttribute("data-line"));
}

/** Processor time that the page's thread has taken, in milliseconds. */
async function workOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")!.value * 1_000;
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}
