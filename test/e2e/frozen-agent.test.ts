/**
 * An agent that is frozen for longer than its lease, as by a debugger: its job is retried on another agent only after
 * the agent's step has ended, and the agent works again when it wakes up. The steps write the lines that the test
 * checks.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ProcessWorld, type ServeNode, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
const REGISTRATION = "a-registration-token-for-this-test-only";
const LEASE_MS = 10_000;
const FROZEN_MS = 20_000;

/** The first attempt writes lines for longer than the test lasts; later attempts do so for a second. */
const SCRIPT = `
beat=0
while [ "$MILLRACE_JOB_ATTEMPT" = 1 ] || [ "$beat" -lt 20 ]; do
  beat=$((beat + 1))
  echo "$MILLRACE_JOB_ATTEMPT $(date +%s%N)" >> "$LEDGER"
  sleep 0.05
done`;

/** Writes one line with the time. */
const ONCE = 'echo "$MILLRACE_JOB_ATTEMPT $(date +%s%N)" >> "$LEDGER"';

interface JobDetail {
  readonly jobId: string;
  readonly status: string;
  readonly attempt: number;
  readonly agentId: string | null;
  readonly reason: string;
}

interface RunDetail {
  readonly status: string;
  readonly jobs: readonly JobDetail[];
}

describe("an agent frozen for longer than its lease", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let node: ServeNode;

  before(async () => {
    world = await ProcessWorld.create();
    node = await world.serve("edge,gateway,worker", {
      env: { MILLRACE_BOOTSTRAP_TOKEN: ADMIN, MILLRACE_REGISTRATION_TOKEN: REGISTRATION },
    });
  });
  after(() => world?.end());

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`http://${node.http}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { code: number; detail: T };
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.detail;
  }

  async function startAgent(name: string): Promise<StartedProcess> {
    const agent = world.agent(node.grpc!, {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION,
        MILLRACE_AGENT_NAME: name,
        MILLRACE_AGENT_SLOTS: "1",
        MILLRACE_AGENT_LABELS: `which=${name}`,
        LOG_LEVEL: "info",
      },
    });
    await agent.prints("welcomes this agent");
    return agent;
  }

  /** Creates a pipeline with one step and triggers a run of it. Answers the run's id. */
  async function run(name: string, script: string, matchLabels: Record<string, string> = {}): Promise<string> {
    const { pipelineId } = await call<{ pipelineId: string }>("POST", "/pipelines", { name });
    const steps = [{ name: "only", uses: "shell", args: { script }, env: { LEDGER: join(world.folder, name) } }];
    const agentLeaseTimeout = `${LEASE_MS / 1_000}s`;
    await call("POST", `/pipelines/${pipelineId}/spec/save`, {
      spec: { jobs: [{ name: "job", agentLeaseTimeout, agentSelector: { matchLabels }, steps }] },
      format: "yaml",
      commitMessage: name,
    });
    return (await call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {})).runId;
  }

  /** The times of the lines that an attempt of the job has written, in Unix milliseconds, ascending. */
  async function linesOf(name: string, attempt: number): Promise<readonly number[]> {
    const text = await readFile(join(world.folder, name), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line.startsWith(`${attempt} `))
      .map((line) => Number(BigInt(line.split(" ")[1]!) / 1_000_000n));
  }

  const ended = (runId: string) =>
    until(
      `the end of ${runId}`,
      async () => {
        const detail = await call<RunDetail>("GET", `/pipelines/runs/${runId}?attempts=all`);
        return !["pending", "running"].includes(detail.status) && detail;
      },
      30_000,
    );

  it("has no step left when another agent runs its job, and works again", async () => {
    const frozen = await startAgent("frozen");
    const beating = await run("beating", SCRIPT);
    await until("beats", async () => (await linesOf("beating", 1)).length > 2);
    await startAgent("other");
    frozen.kill("SIGSTOP");
    const frozenAt = Date.now();
    // This job takes the frozen agent's slot when its first job is given up, so that the second attempt cannot take it.
    const waiting = await run("waiting", ONCE, { which: "frozen" });
    await until("the second attempt", async () => (await linesOf("beating", 2)).length > 0, FROZEN_MS);
    await until("the time to wake up", () => Date.now() - frozenAt > FROZEN_MS, FROZEN_MS);
    const thawedAt = Date.now();
    frozen.kill("SIGCONT");

    const { status, jobs } = await ended(beating);
    expect(status).to.equal("success");
    const [first, second] = jobs.toSorted((a, b) => a.attempt - b.attempt);
    expect(first).to.include({ status: "failed", reason: "agent_lost" });
    expect(second).to.include({ status: "success" });
    expect(second!.agentId).to.not.equal(first!.agentId);
    const lastOfFirst = (await linesOf("beating", 1)).at(-1)!;
    expect(lastOfFirst, "the first attempt ends with its lease").to.be.below(frozenAt + LEASE_MS + 3_000);
    const ofSecond = await linesOf("beating", 2);
    expect(lastOfFirst, "attempts do not overlap").to.be.below(ofSecond[0]!);
    expect(ofSecond, "the second attempt runs once").to.have.length(20);

    const { jobs: attempts } = await ended(waiting);
    const ran = (await Promise.all(attempts.map(({ attempt }) => linesOf("waiting", attempt)))).flat();
    expect(ran.length, "the job granted to the frozen agent runs at most once").to.be.below(2);
    for (const at of ran) expect(at).to.be.above(thawedAt);
    expect((await ended(await run("after", ONCE, { which: "frozen" }))).status).to.equal("success");
  });
});
