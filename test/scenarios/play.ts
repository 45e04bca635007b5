/**
 * Plays a scenario: a definition in YAML, and a JSON file of the same name with what users do meanwhile and how the runs must end.
 * There are no agents: the last line of a step's script says how the step ends.
 *
 *   exit <n>   the step ends with exit code n
 *   fail <n>   the first n attempts end with exit code 7
 *   hang       the step runs until its timeout ends it
 *   hold       the step runs until it is cancelled, or until an act releases it
 *   deaf       as `hold`, but the agent of the step is dead, which an act reports
 *   lose       the agent dies when the job runs for the first time
 *   unable     the agent cannot start the step when the job runs for the first time
 *
 * Lines `name=value` before the last line are outputs of the step. Time passes only when nothing else can happen.
 */
import { expect } from "chai";
import { approve, reject } from "../../src/app/approvals/votes.ts";
import type { UserCaller } from "../../src/app/identity/access.ts";
import { takeAgentEvents } from "../../src/gateway/ingest/event-ingest.ts";
import { reportStep, requestClaim } from "../../src/gateway/actor-messages.ts";
import { cancelJob, cancelStep } from "../../src/app/commands/cancel.ts";
import { updateStepRun } from "../../src/app/runs/update-step.ts";
import { createPipeline } from "../../src/app/catalogue/pipelines.ts";
import { rerunRun } from "../../src/app/triggering/rerun.ts";
import { pauseRun, resumeRun, stopRun } from "../../src/app/commands/run-commands.ts";
import type { RunDetail } from "../../src/app/runs/run-view.ts";
import { getRun } from "../../src/app/runs/run-detail.ts";
import { listRuns } from "../../src/app/runs/runs.ts";
import { triggerRun } from "../../src/app/triggering/trigger.ts";
import { uploadFile } from "../../src/app/content/uploads.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import type { GrantedStep } from "../../src/domain/effects.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import { asId, newId, type PipelineId, type ProjectId, type RunId, type UserId } from "../../src/domain/ids.ts";
import { selectorMatches } from "../../src/domain/labels.ts";
import type { Role } from "../../src/domain/roles.ts";
import { Dispatcher } from "../../src/app/telling/dispatcher.ts";
import type { IncludesOfRevision } from "../../src/stores/ports/pipelines.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { STEPPED_NODE_AGENT, SteppedNode } from "../support/stepped-node.ts";
import type { Act, Condition, ExpectedRun, Scenario } from "./scenario.ts";
import { toldInto } from "./told.ts";
import { sendAgentLost } from "../../src/app/agents/agent-removal.ts";

type Watch = (runs: readonly RunDetail[]) => void;

const ROUNDS = 1_000;
const MAX_EVENTS = 1_000;
/** The labels of the only agent. */
const LABELS = { os: "linux", "container-engine": "podman" };

/**
 * Plays a scenario on these stores; answers the events of its runs. Throws for the first expectation that does not hold.
 * `watch` gets the runs as they are after each round.
 */
export async function play(
  stores: Stores,
  text: string,
  scenario: Scenario,
  watch?: Watch,
): Promise<readonly RunEvent[]> {
  const node = await SteppedNode.open(stores);
  try {
    const player = new Player(node, scenario, watch);
    await player.begin(text);
    await player.playToTheEnd();
    await player.check();
    return await player.events();
  } finally {
    await node.stop();
  }
}

class Player {
  readonly #node: SteppedNode;
  readonly #scenario: Scenario;
  readonly #watch: Watch | undefined;
  readonly #runs: RunId[] = [];
  readonly #acts: Act[];
  readonly #said: string[] = [];
  readonly #order: string[] = [];
  /** Steps that the agent runs: neither lost nor ended. */
  readonly #held = new Map<string, GrantedStep>();
  readonly #lost = new Set<string>();
  /** Differences between the list of runs and the runs themselves. */
  readonly #unlisted: string[] = [];
  #pipelineId = asId<PipelineId>("");
  readonly #told: string[] = [];
  readonly #dispatcher: Dispatcher;

  constructor(node: SteppedNode, scenario: Scenario, watch: Watch | undefined) {
    this.#node = node;
    this.#watch = watch;
    this.#dispatcher = new Dispatcher(node.context, () => [0], toldInto(this.#told));
    this.#scenario = scenario;
    this.#acts = [...(scenario.acts ?? [])];
  }

  async begin(text: string): Promise<void> {
    const { context } = this.#node;
    const { includes } = this.#scenario;
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
      ...(includes && { includes: includesOf(includes) }),
    };
    await context.stores.pipelines.saveRevision(revision, null);
    await this.#trigger(this.#scenario.variables ?? {}, undefined, await this.#sendUploads());
  }

  async #sendUploads(): Promise<Readonly<Record<string, string>>> {
    const uploads: Record<string, string> = {};
    for (const [name, text] of Object.entries(this.#scenario.uploads ?? {})) {
      const open = async () => ({ name: `${name}.txt`, type: "text/plain", atMost: undefined, content: pieces(text) });
      const projectId = asId<ProjectId>("default");
      const { uploadId } = await uploadFile(this.#node.context, userOf(undefined), { projectId, open });
      uploads[name] = uploadId;
    }
    return uploads;
  }

  async playToTheEnd(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await this.#node.settled();
      this.#watch?.(await this.#details());
      if (this.#scenario.told !== undefined) await this.#tell();
      if ((await this.#actOnCondition()) || (await this.#work())) continue;
      const runs = await this.#details();
      const isOver = runs.every(({ endTime }) => endTime !== null);
      if (await this.#actUnconditionally()) continue;
      if (isOver) break;
      if (!(await this.#node.passToNextTimer())) break;
    }
    expect(this.#acts, "acts whose condition never held").to.deep.equal([]);
  }

  async #tell(): Promise<void> {
    const before = this.#told.length;
    await this.#dispatcher.pass();
    await this.#dispatcher.settled();
    this.#told.push(...this.#told.splice(before).toSorted());
  }

  async check(): Promise<void> {
    const { says, order, told, pushed, others = [] } = this.#scenario;
    const runs = await this.#details();
    expect(this.#unlisted, "waits that the list of runs does not show").to.deep.equal([]);
    expect(runs, "runs").to.have.length(1 + others.length);
    [this.#scenario, ...others].forEach((expected, at) => this.#checkRun(runs[at]!, expected));
    await this.#checkUploads(runs);
    if (says !== undefined) expect(this.#said).to.deep.equal(says);
    if (pushed !== undefined) expect(await this.#pushed()).to.deep.equal(pushed);
    if (order !== undefined) expect(this.#order).to.deep.equal(order);
    if (told !== undefined) expect(this.#told).to.deep.equal(told.map((line) => this.#named(line)));
    const deadLetters = await this.#node.context.stores.deadLetters.list({ offset: 0, limit: 10, descending: false });
    expect(deadLetters, "messages that no actor could decide").to.deep.equal([]);
  }

  async #pushed(): Promise<readonly (readonly string[])[]> {
    const contents = (await this.events()).flatMap(({ pushed }) => pushed ?? []);
    return contents.map(({ eventId, type }) => [eventId, type.slice("svc.step.".length)]);
  }

  async events(): Promise<readonly RunEvent[]> {
    const { events } = this.#node.context.stores;
    return (await Promise.all(this.#runs.map((runId) => events.read(runId, 0, MAX_EVENTS)))).flat();
  }

  /** Every run has the uploads of the first trigger, and keeps them. */
  async #checkUploads(runs: readonly RunDetail[]): Promise<void> {
    for (const { runId, uploads } of runs) {
      expect(Object.keys(uploads)).to.deep.equal(Object.keys(this.#scenario.uploads ?? {}));
      for (const { uploadId } of Object.values(uploads)) {
        const uses = await this.#node.context.stores.uploads.usesOf(uploadId, runs.length);
        expect(uses.map((use) => use.runId)).to.include(runId);
      }
    }
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
    const found = job === undefined ? detail : detail?.jobs.findLast(({ name }) => name === job);
    if (found === undefined) return false;
    if (job === undefined) await this.#compareWithList(detail!);
    if (status !== undefined && found.status !== status) return false;
    if (waitsFor !== undefined && found.waitingFor?.reason !== waitsFor) return false;
    return text === undefined || (found.waitingFor?.text ?? "").includes(this.#named(text));
  }

  /** Notes a difference between a run and its row in the list of runs. */
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
      expect(act.refused, `${act.do} should have been refused`).to.equal(undefined);
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
      case "updateStep": {
        const { stepRunId } = await this.#stepOf(act);
        const { priority, notes: metadata } = act;
        return void (await updateStepRun(context, user, { ...input, stepRunId: asId(stepRunId), priority, metadata }));
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
      case "pushEvents": {
        const { stepRunId, agentId, token } = [...this.#held.values()].find(({ runId: of }) => of === runId)!;
        const event = { subject: "", timeMs: 1, dataJson: "", stepRunId, token };
        const events = (act.events ?? []).map(([id, word]) => ({ ...event, id, type: `svc.step.${word}` }));
        return void (await takeAgentEvents(context, agentId, events));
      }
      case "release": {
        const step = [...this.#held.values()].find(({ runId: of }) => of === runId)!;
        return this.#report(step, 0, "succeeded", []);
      }
      case "lose": {
        const { jobId } = (await this.#details())[act.run ?? 0]!.jobs.findLast(({ name }) => name === act.job)!;
        return sendAgentLost(context, { runId, jobId }, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, "");
      }
      case "wait":
        return this.#node.pass((act.minutes ?? 0) * 60_000);
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

  async #trigger(
    variables: Readonly<Record<string, string>>,
    as: string | undefined,
    uploads: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const input = { pipelineId: this.#pipelineId, variables, uploads };
    const { runId } = await triggerRun(this.#node.context, userOf(as), input);
    this.#runs.push(runId);
  }

  /** Does what the agent would do; answers false when there is nothing to do. */
  async #work(): Promise<boolean> {
    const { context, offers, notices } = this.#node;
    const offered = [...offers.values()].filter(({ selector }) => selectorMatches(selector, { labels: LABELS }));
    for (const offer of offered) {
      offers.delete(offer.jobId);
      const { jobs } = await getRun(context, userOf(undefined), { runId: offer.runId, allAttempts: true });
      this.#order.push(jobs.find(({ jobId }) => jobId === offer.jobId)!.name);
      const taken = { ...offer, quotas: [] };
      await requestClaim(context, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, taken, `claim-${offer.jobId}`);
      await this.#node.settled();
    }
    const received = notices.splice(0);
    for (const notice of received) {
      if (notice.type === "dispatch") await this.#take(notice.order);
      if (notice.type !== "revoke") continue;
      const step = this.#held.get(notice.stepRunId);
      if (step !== undefined) await this.#report(step, -1, "cancelled", []);
    }
    return offered.length + received.length > 0;
  }

  async #take(step: GrantedStep): Promise<void> {
    const { builder, context } = this.#node;
    const dispatch = await builder.build(step);
    if (dispatch === undefined) return;
    const said = dispatch.env.findLast(([name]) => name === "SAYS")?.[1];
    if (said !== undefined) this.#said.push(said);
    const lines = (JSON.parse(dispatch.argsJson) as { script: string }).script.split("\n");
    const outputs = lines.slice(0, -1).map((line) => line.split("=") as [string, string]);
    const script = lines.at(-1)!;
    const job = `${step.runId}/${step.jobIndex}`;
    if ((script === "lose" || script === "unable") && !this.#lost.has(job)) {
      this.#lost.add(job);
      if (script === "unable") return this.#report(step, -1, "notStarted", []);
      return sendAgentLost(context, step, { agentId: STEPPED_NODE_AGENT, bootId: "boot-1" }, "");
    }
    if (script === "deaf") return this.#report(step, -1, "started", []);
    this.#held.set(step.stepRunId, step);
    if (script === "hold") return this.#report(step, -1, "started", []);
    if (script === "hang") return this.#report(step, -1, "timedOut", outputs);
    const exitCode = exitCodeOf(script, await this.#attemptOf(step));
    await this.#report(step, exitCode, exitCode === 0 ? "succeeded" : "failed", outputs);
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

/** As the node that reads a commit keeps them. */
function includesOf(files: Readonly<Record<string, string>>): IncludesOfRevision {
  return { path: ".millrace/pipeline.yaml", files: Object.entries(files).map(([path, text]) => ({ path, text })) };
}

/** The user that `as` names: `name:role`, or a role alone. */
function userOf(as: string | undefined): UserCaller {
  const [name, role = name] = (as ?? "ann:admin").split(":") as [string, string?];
  return { kind: "user", userId: asId<UserId>(`usr_${name}`), name: name!, role: role as Role, scopes: [] };
}

function exitCodeOf(script: string, attempt: number): number {
  const failures = Number(/^fail (\d+)$/.exec(script)?.[1] ?? 0);
  return attempt <= failures ? 7 : Number(/^exit (\d+)$/.exec(script)?.[1] ?? 0);
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
