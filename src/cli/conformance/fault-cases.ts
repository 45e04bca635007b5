/** What an agent must do when it loses its network, its token or its process. */
import type { RunId } from "../../domain/ids.ts";
import { type Bench, check, describe, job, markPath, shell } from "./bench.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { grantedStepOf, sendNotice } from "./notices.ts";
import { revokeAgentToken } from "../../app/agents/agent-removal.ts";

const LEASE_MS = 10_000;
/** After this time without a heartbeat, the control plane declares the agent lost. */
const LOST_AFTER_MS = LEASE_MS + 5_000;
const CUT_MS = 3_000;
/** Allowed for clocks of whole seconds and for the time that a kill takes. */
const SLACK_S = 3;
const RECONNECT_MS = 30_000;
const DRAIN_MS = 40_000;

/** A job that writes the time to a file at `mark`, five times a second, until it is killed. Its second attempt succeeds at once. */
function beatingJob(mark: string, extra: Readonly<Record<string, unknown>> = {}) {
  const script = `
echo x >> ${mark}.starts
if [ "$(wc -l < ${mark}.starts)" -gt 1 ]; then date +%s > ${mark}.again; exit 0; fi
echo ready
while :; do date +%s >> ${mark}.beats; sleep 0.2; done`;
  return job("one", [shell(script)], extra);
}

interface Beats {
  readonly starts: number;
  /** How long the first start ran, seconds. */
  readonly ranS: number;
  /** From the last beat of the first start to the second start, seconds; 0 without a second start. */
  readonly gapS: number;
}

/** Reads and removes the files at `mark`. Waits first, so that a step that is still running has run for too long. */
async function readBeats(bench: Bench, mark: string): Promise<Beats> {
  await bench.pause((SLACK_S + 2) * 1_000);
  const [starts, first, last, again] = await bench.probe(
    `wc -l < ${mark}.starts; head -n 1 ${mark}.beats; tail -n 1 ${mark}.beats
     if [ -e ${mark}.again ]; then cat ${mark}.again; else tail -n 1 ${mark}.beats; fi
     rm -f ${mark}.starts ${mark}.beats ${mark}.again`,
  );
  return { starts: Number(starts), ranS: Number(last) - Number(first), gapS: Number(again) - Number(last) };
}

/** Starts a beating job. `readyAt` is when its first beat was seen, by the suite's clock. */
async function startBeatingJob(bench: Bench, definition: ReturnType<typeof beatingJob>) {
  const runId = await bench.run([definition]);
  await bench.line(runId, /^ready$/);
  return { runId, readyAt: performance.now() };
}

function checkKilled({ ranS }: Beats, mostMs: number, why: string): void {
  const mostS = mostMs / 1_000 + SLACK_S;
  check(ranS <= mostS, `the step is killed ${why}: it ran for ${ranS} s, at most ${mostS.toFixed(1)} s were allowed`);
}

async function checkSecondAttempt(bench: Bench, runId: RunId): Promise<void> {
  const detail = await bench.ended(runId, RECONNECT_MS);
  const attempts = detail.jobs.map(({ attempt, status }) => `${attempt} ${status}`).join(", ");
  check(
    detail.status === "success" && attempts === "1 failed, 2 success",
    `the job succeeds in a second attempt; ${describe(detail)}`,
  );
  const reason = detail.jobs[0]!.reason;
  check(reason === "agent_lost", `the first attempt counts as lost, not as ${reason}`);
}

export const FAULT_CASES: readonly ConformanceCase[] = [
  {
    name: "kills a step whose token is refused, and does not start it again",
    needs: "push",
    async run(bench) {
      const mark = markPath();
      const { runId, readyAt } = await startBeatingJob(
        bench,
        beatingJob(mark, { retry: { attempts: 1, on: ["agent_lost"] } }),
      );
      const { stepRunId, token } = await grantedStepOf(bench, runId);
      const refusedMs = performance.now() - readyAt;
      await sendNotice(bench, { type: "refuse", stepRunId, token });
      // For the control plane the agent still holds the step, so it sends the dispatch again.
      await bench.ended(runId, RECONNECT_MS);
      const beats = await readBeats(bench, mark);
      check(beats.starts === 1, `the step starts once, not ${beats.starts} times`);
      checkKilled(beats, refusedMs, "when its token is refused");
    },
  },
  {
    name: "continues its steps while the connection is lost, and then delivers their log lines",
    async run(bench) {
      const mark = markPath();
      const count = 60;
      const script = `echo x >> ${mark}; i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "line $i"; sleep 0.1; done`;
      const runId = await bench.run([job("one", [shell(script)])]);
      await bench.line(runId, /^line 5$/);
      bench.network.cut();
      await bench.pause(CUT_MS);
      bench.network.restore();
      const detail = await bench.ended(runId, RECONNECT_MS);
      const attempts = detail.jobs.flatMap(({ steps }) => steps);
      check(
        detail.status === "success" && attempts.length === 1,
        `the step succeeds in its first attempt; ${describe(detail)}`,
      );
      const lines = await bench.lines(attempts[0]!);
      const expected = Array.from({ length: count }, (_, at) => `line ${at + 1}`);
      check(lines.join("\n") === expected.join("\n"), `all ${count} lines arrive, once and in order`);
      const [starts] = await bench.probe(`wc -l < ${mark}; rm -f ${mark}`);
      check(starts!.trim() === "1", `the step starts once, not ${starts!.trim()} times`);
    },
  },
  {
    name: "kills its steps by itself when its lease runs out",
    async run(bench) {
      const mark = markPath();
      const { runId, readyAt } = await startBeatingJob(
        bench,
        beatingJob(mark, { agentLeaseTimeout: `${LEASE_MS / 1_000}s` }),
      );
      const cutMs = performance.now() - readyAt;
      bench.network.cut();
      await bench.pause(LOST_AFTER_MS + 2_000);
      bench.network.restore();
      await checkSecondAttempt(bench, runId);
      const beats = await readBeats(bench, mark);
      check(beats.starts === 2, `the job begins twice, not ${beats.starts} times`);
      checkKilled(beats, cutMs + LEASE_MS, "when its lease runs out");
      check(beats.gapS >= 0, "the first start is dead before the second one");
      return `ran for ${beats.ranS} s of a lease of ${LEASE_MS / 1_000} s`;
    },
  },
  {
    name: "registers again when its token is revoked",
    async run(bench) {
      const agentId = await bench.agentId();
      const { identity } = bench.context.stores;
      const [old] = await identity.listTokens("agent", agentId);
      await revokeAgentToken(bench.context, bench.caller, { agentId });
      await bench.until(
        "the agent has another token",
        async () => (await identity.listTokens("agent", agentId)).some(({ tokenId }) => tokenId !== old!.tokenId),
        RECONNECT_MS,
      );
      await bench.probe("true");
    },
  },
  {
    name: "takes no more jobs after SIGTERM, finishes those that it holds, and exits with 0",
    needs: "command",
    async run(bench) {
      const command = bench.command!;
      const first = await bench.run([job("one", [shell("echo ready; sleep 3; echo done")])]);
      await bench.line(first, /^ready$/);
      command.signal("SIGTERM");
      await bench.pause(500);
      const second = await bench.run([job("two", [shell("true")])]);
      const detail = await bench.ended(first);
      check(detail.status === "success", `the running job finishes; ${describe(detail)}`);
      const how = await command.ended(DRAIN_MS);
      check(how === "exit status 0", `the agent ends with exit status 0, not ${how ?? "never"}`);
      const waiting = await bench.detail(second);
      check(waiting.jobs[0]!.status === "queued", `no further job is taken; ${describe(waiting)}`);
      command.start();
      check((await bench.ended(second, RECONNECT_MS)).status === "success", "started again, it takes the job");
    },
  },
  {
    name: "leaves no step behind when it is killed, and reports its steps as lost when it is started again",
    needs: "command",
    async run(bench) {
      const command = bench.command!;
      const mark = markPath();
      const { runId, readyAt } = await startBeatingJob(bench, beatingJob(mark));
      const killedMs = performance.now() - readyAt;
      command.signal("SIGKILL");
      await command.ended(DRAIN_MS);
      command.start();
      await checkSecondAttempt(bench, runId);
      const beats = await readBeats(bench, mark);
      check(beats.starts === 2, `the job begins twice, not ${beats.starts} times`);
      checkKilled(beats, killedMs, "with its agent");
      check(beats.gapS >= 0, "the first start is dead before the second one");
    },
  },
];
