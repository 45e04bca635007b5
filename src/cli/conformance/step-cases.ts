/** What an agent must do with steps while nothing fails. */
import { check, describe, job, markPath, shell } from "./bench.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { grantedStepOf, sendNotice } from "./notices.ts";

const HEARTBEAT_WITHIN_MS = 6_000;
const LINES = 3_000;
/** Long enough for a user who has to start the agent by hand. */
const REGISTRATION_MS = 60_000;
/** The time in which a notice must arrive: over an open channel, and with the answer to a heartbeat. */
const NOTICE_WITHIN_MS = { push: 1_000, pull: 8_000 } as const;
/** A loop of the shell over $i, from 1. */
const times = (count: number, body: string) => `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); ${body}; done`;

export const STEP_CASES: readonly ConformanceCase[] = [
  {
    name: "registers and says hello",
    async run(bench) {
      const registered = async () => {
        check(bench.command?.running !== false, "the agent's program runs until it is asked to end; it has ended");
        return bench.agent();
      };
      const { name, slots } = await bench.until("the agent registers", registered, REGISTRATION_MS);
      await bench.until("the agent sends a heartbeat", () => bench.beat());
      return `${name}, ${slots} slots`;
    },
  },
  {
    name: "sends heartbeats at the interval that the gateway asks for",
    async run(bench) {
      for (let count = 0; count < 2; count++) {
        const before = await bench.beat();
        await bench.until("a heartbeat", async () => (await bench.beat()) !== before, HEARTBEAT_WITHIN_MS);
      }
    },
  },
  {
    name: "runs a step and reports its start and its end",
    async run(bench) {
      const runId = await bench.run([job("one", [shell("echo hello")])]);
      const detail = await bench.ended(runId);
      const step = detail.jobs[0]!.steps[0]!;
      check(
        detail.status === "success" && step.exitCode === 0,
        `the step succeeds with exit code 0; ${describe(detail)}`,
      );
      check((await bench.lines(step)).join() === "hello", "its log is the line hello");
      const events = await bench.context.stores.events.read(runId, 0, 1_000);
      for (const lifecycle of ["started", "completed"]) {
        const count = events.filter((event) => event.object === "step" && event.lifecycle === lifecycle).length;
        check(count === 1, `the step is recorded as ${lifecycle} once, not ${count} times`);
      }
    },
  },
  {
    name: "reports the exit code of a step that fails",
    async run(bench) {
      const detail = await bench.ended(await bench.run([job("one", [shell("exit 7"), shell("echo never")])]));
      const [failed, skipped] = detail.jobs[0]!.steps;
      check(
        failed!.status === "failed" && failed!.exitCode === 7,
        `the step fails with exit code 7; ${describe(detail)}`,
      );
      check(skipped!.status === "skipped", "the step after it is skipped");
    },
  },
  {
    name: "fails a step whose `uses` it does not know, and does not report it as lost",
    async run(bench) {
      const runId = await bench.run([job("one", [shell("echo never")])], (planned) => ({
        ...planned,
        jobs: planned.jobs.map((spec) => ({
          ...spec,
          steps: spec.steps.map((step) => ({ ...step, uses: "conformance/unknown@9" })),
        })),
      }));
      const detail = await bench.ended(runId);
      const attempts = detail.jobs.flatMap(({ steps }) => steps);
      check(attempts.length === 1 && attempts[0]!.status === "failed", `the step fails, once; ${describe(detail)}`);
      check(attempts[0]!.reason !== "", "the report says why");
    },
  },
  {
    name: "passes environment, arguments and working directory to a step unchanged",
    async run(bench) {
      const odd = `x "y" $HOME \\n 'é' %s`;
      const steps = [
        shell("mkdir -p sub/dir"),
        shell(`printf '%s\\n' "$A" "$B" "\${PWD##*/}" "$MILLRACE_JOB_NAME"`, {
          env: { A: "step", B: odd },
          workingDirectory: "sub/dir",
        }),
        { uses: "shell", args: { command: "printf", args: ["%s|", "a b", "$HOME", "*", ""] } },
      ];
      const detail = await bench.ended(await bench.run([job("one", steps, { env: { A: "job" } })]));
      check(detail.status === "success", `the steps succeed; ${describe(detail)}`);
      const [, environment, command] = detail.jobs[0]!.steps;
      const lines = await bench.lines(environment!);
      const expected = ["step", odd, "dir", "one"];
      check(
        lines.join("\n") === expected.join("\n"),
        `the script prints ${expected.join(", ")}, not ${lines.join(", ")}`,
      );
      const printed = (await bench.lines(command!)).join("\n");
      check(printed === "a b|$HOME|*||", `a command gets its arguments without a shell, not ${printed}`);
    },
  },
  {
    name: "reports the outputs that a step writes to MILLRACE_OUTPUT",
    async run(bench) {
      const version = "${{ steps.make.outputs.version }}";
      const detail = await bench.ended(
        await bench.run([
          job("one", [
            shell(`echo "version=1.2=3" >> "$MILLRACE_OUTPUT"; echo "other=é" >> "$MILLRACE_OUTPUT"`, { id: "make" }),
            shell(`echo "$V"`, { env: { V: version } }),
          ]),
        ]),
      );
      check(detail.status === "success", `the steps succeed; ${describe(detail)}`);
      const lines = await bench.lines(detail.jobs[0]!.steps[1]!);
      check(lines.join() === "1.2=3", `the next step reads 1.2=3, not ${lines.join()}`);
    },
  },
  {
    name: "sends every log line of both streams, numbered in order, and reports the number of the last one",
    async run(bench) {
      const script = `${times(LINES, 'echo "line $i é"')}; echo problem >&2; printf 'no end of line'`;
      const detail = await bench.ended(await bench.run([job("one", [shell(script)])]), 60_000);
      check(detail.status === "success", `the step succeeds; ${describe(detail)}`);
      const step = detail.jobs[0]!.steps[0]!;
      check(step.lastLine === LINES + 2, `the report's last line is ${LINES + 2}, not ${step.lastLine}`);
      await bench.lines(step);
      const lines = await bench.storedLines(step.stepRunId);
      const out = lines.filter(({ stream }) => stream === "stdout").map(({ content }) => content);
      const expected = [...Array.from({ length: LINES }, (_, at) => `line ${at + 1} é`), "no end of line"];
      check(out.join("\n") === expected.join("\n"), "stdout is what the step has written, in order");
      const errors = lines.filter(({ stream }) => stream === "stderr").map(({ content }) => content);
      check(errors.join() === "problem", "stderr is what the step has written");
      check(
        lines.every(({ line }, at) => line === at + 1),
        "the numbers are 1, 2, 3 and so on",
      );
    },
  },
  {
    name: "keeps the workspace during a job, and removes it when the job is released",
    async run(bench) {
      const detail = await bench.ended(
        await bench.run([job("one", [shell(`ls -A | wc -l; echo kept > file; pwd`), shell("cat file")])]),
      );
      check(detail.status === "success", `the steps succeed; ${describe(detail)}`);
      const [first, second] = detail.jobs[0]!.steps;
      const [entries, path] = await bench.lines(first!);
      check(entries!.trim() === "0", `a workspace begins empty, not with ${entries!.trim()} entries`);
      check((await bench.lines(second!)).join() === "kept", "the second step finds what the first one has written");
      await bench.until("the workspace is removed", async () => {
        const [seen] = await bench.probe(`if [ -e "$P" ]; then echo there; else echo gone; fi`, { P: path! });
        return seen === "gone";
      });
    },
  },
  {
    name: "asks a cancelled step to end, by SIGTERM, before it kills the step",
    async run(bench) {
      const script = `trap 'echo asked; exit 0' TERM; echo ready; ${times(600, "sleep 0.05")}`;
      const runId = await bench.run([job("one", [shell(script)])]);
      await bench.line(runId, /^ready$/);
      const before = performance.now();
      await bench.stop(runId);
      const within = NOTICE_WITHIN_MS[bench.mode];
      await bench.line(runId, /^asked$/, within + 1_000);
      const tookMs = Math.round(performance.now() - before);
      check(tookMs <= within, `SIGTERM reaches the step within ${within} ms of the stop, not ${tookMs} ms`);
      const detail = await bench.ended(runId);
      const step = detail.jobs[0]!.steps[0]!;
      check(step.status === "cancelled", `the step is cancelled; ${describe(detail)}`);
      return `asked ${tookMs} ms after the stop`;
    },
  },
  {
    name: "kills a cancelled step after its grace period, with all processes that it started",
    async run(bench) {
      const script = `trap '' TERM; sleep 600 & echo "pids $$ $!"; while :; do sleep 0.1; done`;
      const runId = await bench.run([job("one", [shell(script)], { cancelGrace: "1s" })]);
      const [, pids] = await bench.line(runId, /^pids (.*)$/);
      const before = performance.now();
      await bench.stop(runId);
      const detail = await bench.ended(runId);
      const tookMs = Math.round(performance.now() - before);
      check(detail.jobs[0]!.steps[0]!.status === "cancelled", `the step is cancelled; ${describe(detail)}`);
      check(tookMs >= 900, `the step gets its grace period of 1 s, not ${tookMs} ms`);
      const alive = await bench.probe(STILL_ALIVE, { PIDS: pids! });
      check(alive.join() === "done", `no process of the step is left, not ${alive.join()}`);
      return `killed after ${tookMs} ms`;
    },
  },
  {
    name: "ends a step at its timeout",
    async run(bench) {
      const detail = await bench.ended(await bench.run([job("one", [shell("sleep 600", { timeout: "1s" })])]));
      check(detail.jobs[0]!.steps[0]!.status === "timeout", `the step times out; ${describe(detail)}`);
    },
  },
  {
    name: "starts a step once, even when its dispatch arrives several times",
    needs: "push",
    async run(bench) {
      const mark = markPath();
      const runId = await bench.run([job("one", [shell(`echo x >> ${mark}; echo ready; sleep 1`)])]);
      await bench.line(runId, /^ready$/);
      const grantedStep = await grantedStepOf(bench, runId);
      for (let count = 0; count < 3; count++) await sendNotice(bench, { type: "dispatch", order: grantedStep });
      const detail = await bench.ended(runId);
      check(detail.status === "success", `the step succeeds; ${describe(detail)}`);
      await sendNotice(bench, { type: "dispatch", order: grantedStep });
      await bench.pause(1_000);
      const [starts] = await bench.probe(`wc -l < ${mark}; rm -f ${mark}`);
      check(starts!.trim() === "1", `the step starts once, not ${starts!.trim()} times`);
    },
  },
];

/** Prints each process of $PIDS that is alive. A zombie process is not. */
const STILL_ALIVE = `
for p in $PIDS; do
  if kill -0 $p 2>/dev/null && ! grep -qs ') Z' /proc/$p/stat; then echo "$p lives"; fi
done
echo done
`;
