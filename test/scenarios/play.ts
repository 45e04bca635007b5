/**
 * Plays a scenario: a definition, and beside it what users do meanwhile and what must become of it. In place of agents a
 * script of each step says how it ends, in its last line:
 *
 *   exit <n>
 *   fail <n>   with exit code 7, in its first n attempts
 *   hang       its timeout ends it
 *   hold       it runs until it is cancelled, or released by an act
 *   deaf       as `hold`, but its agent is dead, which the plane finds out by an act
 *   lose       its agent dies the first time the job runs
 *   unable     its agent cannot start it the first time the job runs
 *
 * Lines `name=value` before it are what the step writes. Time passes only where nothing else can happen.
 */
import { expect } from "chai";
import { approve, reject } from "../../src/app/approvals/votes.ts";
import type { UserCaller } from "../../src/app/identity/access.ts";
import { reportStep, requestClaim } from "../../src/gateway/actor-messages.ts";
import { cancelJob, cancelStep } from "../../src/app/commands/cancel.ts";
import { createPipeline } from "../../src/app/catalogue/pipelines.ts";
import { rerunRun } from "../../src/app/triggering/rerun.ts";
import { pauseRun, resumeRun, stopRun } from "../../src/app/commands/run-commands.ts";
import type { RunDetail } from "../../src/app/runs/run-view.ts";
import { getRun, listRuns } from "../../src/app/runs/runs.ts";
import { triggerRun } from "../../src/app/triggering/trigger.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import type { GrantedStep } from "../../src/domain/effects.ts";
import { asId, newId, type PipelineId, type RunId, type UserId } from "../../src/domain/ids.ts";
import { selectorMatches } from "../../src/domain/labels.ts";
import type { Role } from "../../src/domain/roles.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { STEPPED_NODE_AGENT, SteppedNode } from "../support/stepped-node.ts";
import { sendAgentLost } from "../../src/app/agents/agent-removal.ts";

/** What one run must come to. */
export interface ExpectedRun {
  readonly run: string;
  /** Why it ended so; `{0}` stands for the id of the first run. */
  readonly reason?: string;
  readonly attempt?: number;
  /** By name; each attempt's status in order. */
  readonly jobs?: Readonly<Record<string, string | readonly string[]>>;
  /** By job name; statuses of the newest attempt's steps, each with all its attempts. */
  readonly steps?: Readonly<Record<string, readonly string[]>>;
  /** By job name; why the newest attempt ended as it did. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Names of jobs that were not run again. */
  readonly reused?: readonly string[];
  /** Milliseconds between the run's start and its end. */
  readonly tookMs?: number;
}

export interface Scenario extends ExpectedRun {
  /** What the first trigger gives. */
  readonly variables?: Readonly<Record<string, string>>;
  /** In this order, each as soon as it can be. */
  readonly acts?: readonly Act[];
  /** Of the runs after the first. */
  readonly others?: readonly ExpectedRun[];
  /** What steps of all runs have in the variable SAYS, in the order in which they ran. */
  readonly says?: readonly string[];
  /** Names of jobs in the order in which an agent took them. */
  readonly order?: readonly string[];
}

/** Something that a user does once `after` holds; without it, as soon as nothing happens by itself. */
export interface Act {
  readonly after?: Condition;
  readonly do:
    | "trigger"
    | "stop"
    | "pause"
    | "resume"
    /** Of the newest attempt of the job named by `job`, or of the step named by `step`. */
    | "cancelJob"
    | "cancelStep"
    | "approve"
    | "reject"
    | "rerun"
    /** Lets the held step of the job named by `job` succeed. */
    | "release"
    /** Declares the agent lost that has the job named by `job`. */
    | "lose"
    /** Puts the clock to the next timer. */
    | "pass";
  /** Which run, from 0; default the first. */
  readonly run?: number;
  readonly job?: string;
  /** Of a user who has the role that `as` names, or of the name and role `name:role`; default the admin `ann`. */
  readonly as?: string;
  readonly scope?: "all" | "failed" | "step";
  /** Of `cancelStep`, and of `rerun` with scope `step`: `job/step`. */
  readonly step?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** What the refusal says; else the act must succeed. */
  readonly refused?: string;
}

/** What a run or one of its jobs must look like. */
export interface Condition {
  readonly run?: number;
  readonly job?: string;
  readonly status?: string;
  /** The reason in `waitingFor`. */
  readonly waitsFor?: string;
  /** Part of the text in `waitingFor`; `{0}` stands for the id of the first run. */
  readonly text?: string;
}

const ROUNDS = 1_000;
/** Of the one agent that there is. */
const LABELS = { os: "linux" };

export async function play(stores: Stores, text: string, scenario: Scenario): Promise<void> {
  const node = await SteppedNode.open(stores);
  try {
    const player = new Player(node, scenario);
    await player.begin(text);
    await player.goOn();
    await player.check();
  } finally {
    await node.stop();
  }
}

class Player {
  readonly #node: SteppedNode;
  readonly #scenario: Scenario;
  readonly #runs: RunId[] = [];
  readonly #acts: Act[];
  readonly #said: string[] = [];
  readonly #order: string[] = [];
  /** Steps that an agent holds: neither lost nor ended. */
  readonly #held = new Map<string, GrantedStep>();
  readonly #lost = new Set<string>();
  readonly #unlisted: string[] = [];
  #pipelineId = asId<PipelineId>("");

  constructor(node: SteppedNode, scenario: Scenario) {
    this.#node = node;
    this.#scenario = scenario;
    this.#acts = [...(scenario.acts ?? [])];
  }

  async begin(text: string): Promise<void> {
    const { context } = this.#node;
    const name = "scenario";
    const pipeline = await createPipeline(context, userOf(undefined), { name, defaultBranch: "main" });
    this.#pipelineId = pipeline.pipelineId;
    const revision = {
      revisionId: newId("rev"),
      pipelineId: this.#pipelineId,
      format: "yaml" as const,
      text,
      message: "",
      editor: "ann",
      actor: "ann",
      createdAt: this.#node.now,
    };
    await context.stores.pipelines.saveRevision(revision, null);
    await this.#trigger(this.#scenario.variables ?? {}, undefined);
  }

  async goOn(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await this.#node.settled();
      if ((await this.#actOnCondition()) || (await this.#work())) continue;
      const runs = await this.#details();
      const isOver = runs.every(({ endTime }) => endTime !== null);
      if (await this.#actUnconditionally()) continue;
      if (isOver) break;
      if (!(await this.#node.passToNextTimer())) break;
    }
    expect(this.#acts, "acts that never came to pass").to.deep.equal([]);
  }

  async check(): Promise<void> {
    const { says, order, others = [] } = this.#scenario;
    const runs = await this.#details();
    expect(this.#unlisted, "waits that the list of runs does not tell").to.deep.equal([]);
    expect(runs, "runs").to.have.length(1 + others.length);
    [this.#scenario, ...others].forEach((expected, at) => this.#checkRun(runs[at]!, expected));
    if (says !== undefined) expect(this.#said).to.deep.equal(says);
    if (order !== undefined) expect(this.#order).to.deep.equal(order);
    const letters = await this.#node.context.stores.deadLetters.list({ offset: 0, limit: 10, descending: false });
    expect(letters, "messages that nobody could decide").to.deep.equal([]);
  }

  #checkRun(run: RunDetail, expected: ExpectedRun): void {
    const newest = (name: string) => run.jobs.findLast((job) => job.name === name)!;
    const jobs: Record<string, string[]> = {};
    for (const job of run.jobs) (jobs[job.name] ??= []).push(job.status);
    if (expected.jobs !== undefined) {
      expect(jobs).to.deep.equal(
        Object.fromEntries(Object.entries(expected.jobs).map(([name, statuses]) => [name, [statuses].flat()])),
      );
    }
    for (const [name, statuses] of Object.entries(expected.steps ?? {})) {
      expect(
        newest(name).steps.map(({ status }) => status),
        `steps of ${name}`,
      ).to.deep.equal(statuses);
    }
    for (const [name, reason] of Object.entries(expected.reasons ?? {})) {
      expect(newest(name).reason, `the reason of ${name}`).to.equal(reason);
    }
    if (expected.reused !== undefined) {
      const reused = run.jobs.filter(({ reusedFrom }) => reusedFrom !== null).map(({ name }) => name);
      expect(reused, "reused jobs").to.deep.equal(expected.reused);
    }
    if (expected.reason !== undefined) expect(run.reason).to.equal(this.#named(expected.reason));
    if (expected.attempt !== undefined) expect(run.attempt).to.equal(expected.attempt);
    if (expected.tookMs !== undefined) {
      expect(Date.parse(run.endTime!) - Date.parse(run.startTime!)).to.equal(expected.tookMs);
    }
    expect(run.status).to.equal(expected.run);
  }

  #details(): Promise<RunDetail[]> {
    return Promise.all(
      this.#runs.map((runId) => getRun(this.#node.context, userOf(undefined), { runId, allAttempts: true })),
    );
  }

  async #actOnCondition(): Promise<boolean> {
    const [act] = this.#acts;
    if (act?.after === undefined || !(await this.#holds(act.after))) return false;
    this.#acts.shift();
    await this.#perform(act);
    return true;
  }

  async #actUnconditionally(): Promise<boolean> {
    const [act] = this.#acts;
    if (act === undefined || act.after !== undefined) return false;
    this.#acts.shift();
    await this.#perform(act);
    return true;
  }

  async #holds({ run = 0, job, status, waitsFor, text }: Condition): Promise<boolean> {
    const detail = (await this.#details())[run];
    const looked = job === undefined ? detail : detail?.jobs.findLast(({ name }) => name === job);
    if (looked === undefined) return false;
    if (job === undefined) await this.#compareWithList(detail!);
    if (status !== undefined && looked.status !== status) return false;
    if (waitsFor !== undefined && looked.waitingFor?.reason !== waitsFor) return false;
    return text === undefined || (looked.waitingFor?.text ?? "").includes(this.#named(text));
  }

  /** What the list says of a run is what the run itself says, in short. */
  async #compareWithList({ runId, waitingFor, status }: RunDetail): Promise<void> {
    const query = { pipelineId: this.#pipelineId, page: 1, pageSize: 100, sort: "-createdAt" as const };
    const { list } = await listRuns(this.#node.context, userOf(undefined), query);
    const row = list.find((each) => each.runId === runId);
    if (row?.status === status && row.waitingFor?.reason === waitingFor?.reason) return;
    this.#unlisted.push(`${runId}: ${waitingFor?.reason} is listed as ${row?.waitingFor?.reason}`);
  }

  async #perform(act: Act): Promise<void> {
    const user = userOf(act.as);
    try {
      await this.#act(act, user);
      expect(act.refused, `${act.do} was to be refused`).to.equal(undefined);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      expect(error.message, `${act.do} is refused`).to.include(this.#named(act.refused ?? "not at all"));
    }
  }

  async #act(act: Act, user: UserCaller): Promise<void> {
    const { context } = this.#node;
    const runId = this.#runs[act.run ?? 0]!;
    const input = { runId, pipelineId: this.#pipelineId };
    switch (act.do) {
      case "trigger":
        return this.#trigger(act.variables ?? {}, act.as);
      case "stop":
        return void (await stopRun(context, user, input));
      case "pause":
        return void (await pauseRun(context, user, input));
      case "resume":
        return void (await resumeRun(context, user, input));
      case "cancelJob": {
        const { jobs } = await getRun(context, user, { runId, allAttempts: false });
        const { jobId } = jobs.find(({ name }) => name === act.job)!;
        return void (await cancelJob(context, user, { ...input, jobId }));
      }
      case "cancelStep": {
        const { stepRunId } = await this.#stepOf(act);
        return void (await cancelStep(context, user, { ...input, stepRunId: asId(stepRunId) }));
      }
      case "approve":
      case "reject":
        return this.#vote(act.do, runId, user);
      case "rerun": {
        const { stepRunId } = await this.#stepOf(act);
        const scope = act.scope ?? "all";
        const made = await rerunRun(context, user, { ...input, scope, ...(scope === "step" ? { stepRunId } : {}) });
        return void this.#runs.push(made.runId);
      }
      case "release": {
        const order = [...this.#held.values()].find(({ runId: of }) => of === runId)!;
        return this.#report(order, 0, "succeeded", []);
      }
      case "lose": {
        const { jobId } = (await this.#details())[act.run ?? 0]!.jobs.findLast(({ name }) => name === act.job)!;
        return sendAgentLost(context, { runId, jobId }, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, "");
      }
      case "pass":
        return void (await this.#node.passToNextTimer());
    }
  }

  async #stepOf({ run = 0, step }: Act): Promise<{ readonly stepRunId: string }> {
    if (step === undefined) return { stepRunId: "" };
    const [jobName, stepName] = step.split("/");
    const job = (await this.#details())[run]!.jobs.findLast(({ name }) => name === jobName)!;
    return job.steps.findLast(({ name }) => name === stepName)!;
  }

  async #vote(word: "approve" | "reject", runId: RunId, user: UserCaller): Promise<void> {
    const { context } = this.#node;
    const { actors } = (await context.stores.aggregates.load(runId))!;
    const newest = actors.findLast(({ kind, index }) => kind === "approval" && index.status === "pending");
    const any = newest ?? actors.findLast(({ kind }) => kind === "approval");
    const vote = word === "approve" ? approve : reject;
    await vote(context, user, { runId, pipelineId: this.#pipelineId, approvalId: asId(any?.id ?? "none") });
  }

  async #trigger(variables: Readonly<Record<string, string>>, as: string | undefined): Promise<void> {
    const { runId } = await triggerRun(this.#node.context, userOf(as), { pipelineId: this.#pipelineId, variables });
    this.#runs.push(runId);
  }

  /** What agents do; false when they have nothing to do. */
  async #work(): Promise<boolean> {
    const { context, offers, notices } = this.#node;
    const offered = [...offers.values()].filter(({ selector }) => selectorMatches(selector, LABELS));
    for (const offer of offered) {
      offers.delete(offer.jobId);
      const { jobs } = await getRun(context, userOf(undefined), { runId: offer.runId, allAttempts: true });
      this.#order.push(jobs.find(({ jobId }) => jobId === offer.jobId)!.name);
      const taken = { ...offer, quotas: [] };
      await requestClaim(context, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, taken, `claim-${offer.jobId}`);
      await this.#node.settled();
    }
    const told = notices.splice(0);
    for (const notice of told) {
      if (notice.type === "dispatch") await this.#take(notice.order);
      if (notice.type !== "revoke") continue;
      const order = this.#held.get(notice.stepRunId);
      if (order !== undefined) await this.#report(order, -1, "cancelled", []);
    }
    return offered.length + told.length > 0;
  }

  async #take(order: GrantedStep): Promise<void> {
    const { builder, context } = this.#node;
    const dispatch = await builder.build(order);
    if (dispatch === undefined) return;
    const said = dispatch.env.findLast(([name]) => name === "SAYS")?.[1];
    if (said !== undefined) this.#said.push(said);
    const lines = (JSON.parse(dispatch.argsJson) as { script: string }).script.split("\n");
    const outputs = lines.slice(0, -1).map((line) => line.split("=") as [string, string]);
    const script = lines.at(-1)!;
    const name = `${order.runId}/${order.jobIndex}`;
    if ((script === "lose" || script === "unable") && !this.#lost.has(name)) {
      this.#lost.add(name);
      if (script === "unable") return this.#report(order, -1, "notStarted", []);
      return sendAgentLost(context, order, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, "");
    }
    if (script === "deaf") return this.#report(order, -1, "started", []);
    this.#held.set(order.stepRunId, order);
    if (script === "hold") return this.#report(order, -1, "started", []);
    if (script === "hang") return this.#report(order, -1, "timedOut", outputs);
    const exitCode = exitCodeOf(script, await this.#attemptOf(order));
    await this.#report(order, exitCode, exitCode === 0 ? "succeeded" : "failed", outputs);
  }

  async #attemptOf({ stepRunId }: GrantedStep): Promise<number> {
    const step = (await this.#node.context.stores.aggregates.findStep(stepRunId))!;
    return step.actor.index.attempt;
  }

  async #report(
    { stepRunId, token }: GrantedStep,
    exitCode: number,
    phase: "notStarted" | "started" | "succeeded" | "failed" | "timedOut" | "cancelled",
    outputs: readonly (readonly [string, string])[],
  ): Promise<void> {
    if (phase !== "started") this.#held.delete(stepRunId);
    const report = { stepRunId, token, phase, exitCode, reason: "", outputs, lastLine: 0, durationMs: 0, usage: null };
    await reportStep(this.#node.context, STEPPED_NODE_AGENT, report);
    await this.#node.settled();
  }

  #named(text: string): string {
    return text.replaceAll(/\{(\d+)\}/g, (_, index: string) => this.#runs[Number(index)] ?? "no such run");
  }
}

/** `name:role`, or a role alone. */
function userOf(as: string | undefined): UserCaller {
  const [name, role = name] = (as ?? "ann:admin").split(":") as [string, string?];
  return { kind: "user", userId: asId<UserId>(`usr_${name}`), name: name!, role: role as Role, scopes: [] };
}

function exitCodeOf(script: string, attempt: number): number {
  const failures = Number(/^fail (\d+)$/.exec(script)?.[1] ?? 0);
  return attempt <= failures ? 7 : Number(/^exit (\d+)$/.exec(script)?.[1] ?? 0);
}
