/** What the cases of the conformance suite use: a control plane of their own, the network to it, and the agent under test. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Caller } from "../../app/identity/access.ts";
import type { AppContext } from "../../app/context.ts";
import { planKnownRun, storeNewRun } from "../../app/triggering/create-run.ts";
import { createPipeline, createPipelineBody } from "../../app/catalogue/pipelines.ts";
import { askingFor, pluginsForRun } from "../../app/catalogue/plugin-lookup.ts";
import { stopRun } from "../../app/commands/run-commands.ts";
import type { RunDetail } from "../../app/runs/run-view.ts";
import { getRun } from "../../app/runs/run-detail.ts";
import { type AgentId, newId, type PipelineId, type RunId, type StepRunId } from "../../domain/ids.ts";
import { isFinalRunStatus } from "../../domain/status.ts";
import type { AgentCommand } from "./agent-command.ts";
import type { Network } from "./network.ts";

const POLL_MS = 25;
/** The time in which an agent must react when a case states no other. The agent may have to reconnect first. */
const DEFAULT_WAIT_MS = 20_000;
const MAX_LINES = 10_000;

/** Why an agent does not conform: the text says what was expected, and what happened. */
export class CaseFailure extends Error {
  override readonly name = "CaseFailure";
}

/** Throws a {@link CaseFailure} with the text `expected` unless `holds`. */
export function check(holds: boolean, expected: string): asserts holds {
  if (!holds) throw new CaseFailure(expected);
}

export type StepDetail = RunDetail["jobs"][number]["steps"][number];
type JobText = Readonly<Record<string, unknown>>;
type Planned = Awaited<ReturnType<typeof planKnownRun>>;

export interface BenchParts {
  readonly context: AppContext;
  readonly caller: Caller;
  readonly network: Network;
  /** Null when the user starts the agent. */
  readonly command: AgentCommand | null;
  readonly mode: "push" | "pull";
  /** The image of the cases with containers; null without them. */
  readonly containerImage: string | null;
  readonly signal: AbortSignal;
}

export class Bench {
  readonly context: AppContext;
  readonly caller: Caller;
  readonly network: Network;
  readonly command: AgentCommand | null;
  readonly mode: "push" | "pull";
  readonly containerImage: string | null;
  readonly #signal: AbortSignal;
  readonly #live = new Set<RunId>();
  #pipelineId: PipelineId | undefined;

  constructor({ context, caller, network, command, mode, containerImage, signal }: BenchParts) {
    this.context = context;
    this.caller = caller;
    this.network = network;
    this.command = command;
    this.mode = mode;
    this.containerImage = containerImage;
    this.#signal = signal;
  }

  /** The agent under test; undefined before it has registered. Fails when several agents have registered. */
  async agent() {
    const [agent, ...others] = await this.context.stores.identity.listAgents();
    check(others.length === 0, `one agent registers, under one name; ${others.length + 1} agents have registered`);
    return agent;
  }

  async agentId(): Promise<AgentId> {
    const agent = await this.agent();
    check(agent !== undefined, "the agent has registered");
    return agent.agentId;
  }

  /** A value that changes with each heartbeat of the agent; undefined while the agent sends none. */
  async beat(): Promise<string | undefined> {
    const agentId = await this.agentId();
    return (await this.context.presence.read([agentId])).get(agentId)?.beat;
  }

  /** Calls `look` until it finds something, and resolves with that. Fails with `expected` after `ms`. */
  async until<T>(expected: string, look: () => Promise<T | undefined | false>, ms = DEFAULT_WAIT_MS): Promise<T> {
    for (const end = performance.now() + ms; ;) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      check(performance.now() < end, `${expected} within ${ms / 1_000} s`);
      await this.pause(POLL_MS);
    }
  }

  /** Waits: while a fault lasts, or to see that something does not happen. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#signal });
  }

  /** Starts a run of these jobs; `alter` changes the plan before it is stored. */
  async run(jobs: readonly JobText[], alter: (planned: Planned) => Planned = (planned) => planned): Promise<RunId> {
    const { context, caller } = this;
    const asking = askingFor(context, "conformance");
    const checked = await asking.work.check(asking.caller, {
      text: JSON.stringify({ jobs }),
      format: "json",
      plugins: null,
    });
    const { known, diagnostics } = checked;
    if (known === null) throw new Error(`the definition of a case is not valid: ${JSON.stringify(diagnostics)}`);
    this.#pipelineId ??= (
      await createPipeline(context, caller, createPipelineBody.parse({ name: "conformance" }))
    ).pipelineId;
    const pipeline = await context.stores.pipelines.find(this.#pipelineId);
    const runId = newId("run");
    const origin = {
      trigger: { kind: "manual", ref: "" },
      variables: [],
      triggeredBy: "conformance",
      actor: "conformance",
      revisionId: "",
      commitSha: "",
      attempt: 1,
      retryOf: null,
      firstRunId: null,
    } as const;
    const plugins = await pluginsForRun(context, pipeline!.projectId, known);
    const planned = await planKnownRun(context, asking, known, { runId, origin, pipeline: pipeline! }, plugins);
    await storeNewRun(context, {}, alter(planned));
    this.#live.add(runId);
    return runId;
  }

  /** The run with all attempts. */
  detail(runId: RunId): Promise<RunDetail> {
    return getRun(this.context, this.caller, { runId, allAttempts: true });
  }

  /** The run once it is final. */
  async ended(runId: RunId, ms?: number): Promise<RunDetail> {
    const detail = await this.until(
      "the run ends",
      async () => {
        const now = await this.detail(runId);
        return isFinalRunStatus(now.status) ? now : undefined;
      },
      ms,
    );
    this.#live.delete(runId);
    return detail;
  }

  async stop(runId: RunId): Promise<void> {
    await stopRun(this.context, this.caller, { pipelineId: this.#pipelineId!, runId, reason: "conformance" });
  }

  /** Runs a script on the agent and resolves with the lines that it prints. Fails unless the script succeeds. */
  async probe(script: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const detail = await this.ended(await this.run([job("probe", [shell(script, { env })])]));
    check(detail.status === "success", `a script of the suite succeeds; ${describe(detail)}`);
    return this.lines(detail.jobs[0]!.steps[0]!);
  }

  /** The log of a step that has ended. Waits until all of it is stored. */
  async lines({ stepRunId, lastLine }: StepDetail): Promise<readonly string[]> {
    const { logs } = this.context.stores;
    await this.until("the log is stored up to the line that the report names", async () => {
      return (await logs.storedThrough(stepRunId)) >= (lastLine ?? 0);
    });
    return (await logs.read(stepRunId, 1, MAX_LINES)).map(({ content }) => content);
  }

  /** Resolves with the first match of `pattern` in the log of the run, as soon as its line is stored. */
  async line(runId: RunId, pattern: RegExp, ms?: number): Promise<RegExpExecArray> {
    return this.until(
      `a line like ${String(pattern)} in the log`,
      async () => {
        const { jobs } = await this.detail(runId);
        for (const { stepRunId } of jobs.flatMap(({ steps }) => steps)) {
          for (const { content } of await this.context.stores.logs.read(stepRunId, 1, MAX_LINES)) {
            const match = pattern.exec(content);
            if (match !== null) return match;
          }
        }
        return undefined;
      },
      ms,
    );
  }

  async storedLines(stepRunId: StepRunId) {
    return this.context.stores.logs.read(stepRunId, 1, MAX_LINES);
  }

  /** Restores the network, restarts the agent and stops the runs of a case, so that the next case begins with a free agent. */
  async tidy(): Promise<void> {
    this.network.restore();
    if (this.command?.running === false) this.command.start();
    for (const runId of this.#live) {
      await this.stop(runId).catch(() => {});
      await this.ended(runId, 60_000).catch(() => {});
    }
    this.#live.clear();
  }
}

/** A path on the agent's machine, outside of any workspace. */
export function markPath(): string {
  return `/tmp/millrace-conformance-${randomUUID()}`;
}

export function shell(script: string, extra: JobText = {}): JobText {
  return { uses: "shell", args: { script }, ...extra };
}

export function job(name: string, steps: readonly JobText[], extra: JobText = {}): JobText {
  return { name, steps, ...extra };
}

/** The run and its steps in one line. */
export function describe({ status, jobs }: RunDetail): string {
  const steps = jobs.flatMap((one) =>
    one.steps.map((step) => {
      const exit = step.exitCode === null ? "" : ` with exit code ${step.exitCode}`;
      return `${one.name} ${step.status}${exit}${step.reason === "" ? "" : ` (${step.reason})`}`;
    }),
  );
  return `the run is ${status}: ${steps.join(", ")}`;
}
