/**
 * An installation that is lost and restored from a backup that was made while it worked. The installation does not know
 * what happened after the backup, but agents that are still running do.
 */
import { once } from "node:events";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { RunDetail } from "../../src/cli/run-tree.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const WAITING_SCRIPT = `
n=0
until [ -e "$GO" ]; do n=$((n + 1)); echo "line $n"; sleep 0.05; done
echo "$MILLRACE_STEP_RUN_ID" >> "$LEDGER"`;
const LINES = 300;

describe("an installation restored from a backup", function () {
  this.timeout(150_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  const pipelines = new Map<string, string>();

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
  });
  after(() => world?.end());

  const file = (name: string) => join(world.folder, name);
  const go = (name: string) => writeFile(file(`go-${name}`), "");
  const run = (runId: string) => installation.api.run(runId);
  const firstStep = ({ jobs }: RunDetail) => jobs[0]!.steps[0]!;

  /** Triggers a run of one step on the agent `agentName`. Without a script of its own, the step waits for `go(name)`. */
  async function trigger(
    name: string,
    agentName: string,
    { script = WAITING_SCRIPT, agentLeaseTimeout = "10s" } = {},
  ): Promise<string> {
    const env = { GO: file(`go-${name}`), LEDGER: file("ledger") };
    const steps = [{ name: "step", uses: "shell", args: { script }, env }];
    const agentSelector = { matchLabels: { name: agentName } };
    pipelines.set(name, await installation.pipeline(name, [{ name: "job", agentLeaseTimeout, agentSelector, steps }]));
    return (await installation.api.trigger(pipelines.get(name)!, {})).runId;
  }

  const ended = (runId: string, deadlineMs = 20_000) =>
    until(
      `run ${runId} has ended`,
      async () => {
        const detail = await run(runId);
        return ["success", "failed", "cancelled"].includes(detail.status) && detail;
      },
      deadlineMs,
    );
  const attemptOf = ({ status, jobs }: RunDetail) => `${status} ${jobs[0]!.attempt}`;
  const isRunning = (runId: string) =>
    until(`the step of ${runId} runs`, async () => firstStep(await run(runId)).status === "running");

  async function millrace(...args: readonly string[]): Promise<void> {
    const started = world.start(args);
    expect((await started.exited).code, started.stderr).to.equal(0);
  }

  /** The whole log of a run's step, as a viewer gets it. */
  async function logOf(name: string, runId: string): Promise<readonly string[]> {
    const { jobs } = await run(runId);
    const socket = await installation.api.connect();
    const lines: string[] = [];
    let done = false;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; data: { content: string }[] };
      if (message.type === "log_chunk") lines.push(...message.data.map(({ content }) => content));
      done ||= message.type === "history_done";
    });
    const params = { pipelineId: pipelines.get(name), jobId: jobs[0]!.jobId, stepRunId: jobs[0]!.steps[0]!.stepRunId };
    socket.send(JSON.stringify({ channel: "channel_log", params }));
    await until("the whole log", () => done);
    socket.terminate();
    await once(socket, "close");
    return lines;
  }

  const tokenWorks = async (token: string) => (await installation.call("GET", "/pipelines", undefined, token)).status;

  it("shows ended runs, and lets waiting and running ones end", async () => {
    await installation.serve(file("first"));
    await installation.agent("kept");
    const gone: StartedProcess = await installation.agent("gone");
    const password = "a-password-of-the-test";
    const { body: user } = await installation.call("POST", "/users", { name: "ann", role: "operator", password });
    const { body: personal } = await installation.call("POST", `/users/${user.detail.userId}/tokens`, { name: "own" });
    const { body: session } = await installation.call("POST", "/auth/login", { name: "ann", password });
    const tokens: string[] = [personal.detail.token, session.detail.accessToken];
    expect(await Promise.all(tokens.map(tokenWorks))).to.deep.equal([200, 200]);

    const over = await trigger("over", "kept", { script: `for n in $(seq ${LINES}); do echo "line $n"; done` });
    expect((await ended(over)).status).to.equal("success");
    // These leases last longer than a restore and a start take, however busy the machine is.
    const onKept = await trigger("on kept", "kept", { agentLeaseTimeout: "2m" });
    const endedLater = await trigger("ended later", "kept", { agentLeaseTimeout: "2m" });
    const onGone = await trigger("on gone", "gone");
    const waiting = await trigger("waiting", "new");
    const grantedLater = await trigger("granted later", "late");
    await Promise.all([onKept, endedLater, onGone].map(isRunning));

    await millrace("backup", file("backup"), "--data-dir", file("first"));

    await Promise.all([go("ended later"), go("granted later"), installation.agent("late")]);
    await Promise.all([ended(endedLater), ended(grantedLater)]);
    const forgottenStep = firstStep(await run(grantedLater)).stepRunId;
    const forgotten = await trigger("forgotten", "kept", { script: "true" });
    await ended(forgotten);
    const unknown = await trigger("unknown", "kept", { script: 'while :; do : > "$GO"; sleep 0.05; done' });
    await isRunning(unknown);
    gone.kill("SIGKILL");
    installation.node.kill("SIGKILL");
    await Promise.all([gone.exited, installation.node.exited]);
    await rm(file("agent-gone"), { recursive: true });
    // The node's Redis takes a moment to end.
    await rm(file("first"), { recursive: true, maxRetries: 20, retryDelay: 100 });

    await millrace("restore", file("backup"), "--data-dir", file("second"));
    await installation.serve(file("second"));

    expect((await run(over)).status).to.equal("success");
    expect(await logOf("over", over)).to.deep.equal(Array.from({ length: LINES }, (_, n) => `line ${n + 1}`));
    expect(await Promise.all(tokens.map(tokenWorks)), "personal and access token").to.deep.equal([200, 200]);
    expect((await installation.call("GET", `/pipelines/runs/${forgotten}`)).status).to.equal(404);

    // The agents that are still running report what they did under a grant that the backup knows, so it is not done
    // again. A grant that the backup does not know is over.
    await until("the agent has killed the step that the node does not know", async () => {
      return Date.now() - (await stat(file("go-unknown"))).mtimeMs > 1_000;
    });
    expect(attemptOf(await ended(endedLater))).to.equal("success 1");
    expect(attemptOf(await ended(grantedLater)), "under a new token, for which its agent begins again").to.equal(
      "success 2",
    );
    await Promise.all([go("on kept"), go("on gone"), go("waiting")]);
    expect(attemptOf(await ended(onKept)), "its agent has continued it").to.equal("success 1");
    // Lines may come after the report of the end.
    await until("a log that is whole except for one gap", async () => hasOneGap(await logOf("on kept", onKept)));
    await Promise.all([installation.agent("gone"), installation.agent("new")]);
    expect(attemptOf(await ended(onGone)), "its agent came back without it").to.equal("success 2");
    expect(attemptOf(await ended(waiting))).to.equal("success 1");
    const { runId: next } = await installation.api.trigger(pipelines.get("over")!, {});
    expect(attemptOf(await ended(next))).to.equal("success 1");

    const steps = await Promise.all([endedLater, grantedLater, onKept, onGone, waiting].map(run));
    const ledger = (await readFile(file("ledger"), "utf8")).trim().split("\n");
    const shown = steps.map((detail) => firstStep(detail).stepRunId);
    expect(ledger, "each step once").to.have.members([...shown, forgottenStep]);
  });
});

/** True when the lines are complete except for one gap record, which names exactly the missing lines. */
function hasOneGap(lines: readonly string[]): boolean {
  const at = lines.findIndex((line) => line.endsWith("lost"));
  const [, from, to] = (/^lines (\d+)-(\d+) lost$/.exec(lines[at] ?? "") ?? []).map(Number);
  const expected = [...lines.keys()].map((n) =>
    n < at ? `line ${n + 1}` : n === at ? lines[at] : `line ${to! + n - at}`,
  );
  return at > 0 && at < lines.length - 1 && from === at + 1 && lines.every((line, n) => line === expected[n]);
}
