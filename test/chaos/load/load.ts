/**
 * The mixed load of a scenario: triggers runs, stops, pauses and watches some of them, and records what clients were
 * promised.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunDetail } from "../../../src/app/runs/run-view.ts";
import type { RunId } from "../../../src/domain/ids.ts";
import type { RunStatus } from "../../../src/domain/status.ts";
import type { AcknowledgedPause, AcknowledgedTrigger, AcknowledgedVote, LogEvidence } from "../check/evidence.ts";
import type { Random } from "../world/random.ts";
import { type Client, Refusal } from "./client.ts";
import { EXCLUSIONS, definitionsOf, ENDS, LOAD_KINDS, type LoadKind, SHARES } from "./definitions.ts";
import { LogFollower } from "./log-follower.ts";
import type { DefinitionInputs } from "./secret-jobs.ts";
import { Secrets } from "./secrets.ts";
import { type Definition, FLOOD_LINES, TALK_LINES } from "./step.ts";

const POLL_MS = 250;
const PAUSE_MS = 1_200;
const FINAL: readonly RunStatus[] = ["success", "failed", "cancelled", "partial"];

export interface LoadInputs extends Omit<DefinitionInputs, "control"> {
  /** The notifications of all pipelines. */
  readonly notify: readonly object[];
}

export class Load {
  readonly acknowledged: AcknowledgedTrigger[] = [];
  readonly pauses: AcknowledgedPause[] = [];
  /** Runs with a pause whose answer the client never got: it may have happened or not. */
  readonly unansweredPauses: string[] = [];
  /** Runs whose stop was accepted. */
  readonly stops: string[] = [];
  readonly votes: AcknowledgedVote[] = [];
  readonly logs: LogEvidence[] = [];
  readonly secrets: Secrets;
  readonly #client: Client;
  readonly #inputs: LoadInputs;
  readonly #random: Random;
  readonly #pipelines = new Map<string, string>();
  readonly #definitions = new Map<string, Definition>();
  readonly #unchecked = new Set<string>();
  readonly #flows: Promise<void>[] = [];
  readonly #mayOverflow: boolean;
  /** The kinds of the next runs. They are dealt like cards, so that even a short load has a run of each kind. */
  #deck: LoadKind[] = [];
  #count = 0;

  /** `mayOverflow`: the agents have less room for log lines than `flooding` writes. */
  constructor(
    client: Client,
    inputs: LoadInputs,
    random: Random,
    onSecret: (secret: string, value: string) => void,
    mayOverflow = false,
  ) {
    this.#client = client;
    this.#mayOverflow = mayOverflow;
    this.#inputs = inputs;
    this.#random = random;
    this.secrets = new Secrets(client, random.fork("secrets"), onSecret);
  }

  /** Ids of the pipelines whose runs the checker checks. */
  get pipelineIds(): readonly string[] {
    return [...this.#pipelines].filter(([name]) => !this.#unchecked.has(name)).map(([, pipelineId]) => pipelineId);
  }

  /** Ids of all pipelines of the load and of the faults. */
  get allPipelineIds(): readonly string[] {
    return [...this.#pipelines.values()];
  }

  /** Saves the definition of every kind and sets the secrets that the definitions read. */
  async prepare(): Promise<void> {
    await this.secrets.createForProject();
    const definitions = definitionsOf({ ...this.#inputs, control: this.secrets.control });
    for (const kind of LOAD_KINDS) await this.addPipeline(kind, definitions[kind]);
    await this.secrets.createForPipeline(this.#pipelines.get("confiding")!, "confiding");
  }

  /** Creates a pipeline and answers its id. Its runs need not end when `isChecked` is false. */
  async addPipeline(name: string, spec: Definition, isChecked = true): Promise<string> {
    if (!isChecked) this.#unchecked.add(name);
    this.#definitions.set(name, spec);
    const { pipelineId } = await this.#client.call<{ pipelineId: string }>("POST", "/pipelines", { name });
    this.#pipelines.set(name, pipelineId);
    await this.#client.call("POST", `/pipelines/${pipelineId}/spec/save`, {
      spec: { ...spec, notify: this.#inputs.notify },
      format: "yaml",
      commitMessage: name,
    });
    return pipelineId;
  }

  /** Takes up a pipeline that was made elsewhere. The checker checks its runs. */
  adopt(name: string, pipelineId: string): void {
    this.#pipelines.set(name, pipelineId);
  }

  pipelineId(name: string): string {
    return this.#pipelines.get(name)!;
  }

  /** Triggers one run, even when the call has to be repeated. Answers the run's id once an edge has acknowledged it. */
  trigger(pipeline: string, ends: readonly RunStatus[]): Promise<RunId> {
    return this.triggerAt(undefined, pipeline, ends);
  }

  /** As `trigger`, and calls the edge at `url` first. */
  async triggerAt(url: string | undefined, pipeline: string, ends: readonly RunStatus[]): Promise<RunId> {
    const requestId = `${pipeline}-${++this.#count}`;
    const path = `/pipelines/${this.#pipelines.get(pipeline)!}/trigger`;
    const { runId } = await this.#client.call<{ runId: RunId }>("POST", path, { requestId }, url);
    const unit = EXCLUSIONS[pipeline as LoadKind] ?? null;
    this.acknowledged.push({
      requestId,
      runId,
      definition: this.#definitions.get(pipeline)!,
      vote: pipeline === "rejected" ? "reject" : "approve",
      repeats: null,
      ends,
      exclusion: unit === null ? null : { unit, kind: pipeline },
    });
    return runId;
  }

  /** Triggers a run of a pipeline that the checker does not check. */
  async triggerUnchecked(pipeline: string, requestId: string): Promise<void> {
    await this.#client.call("POST", `/pipelines/${this.#pipelines.get(pipeline)!}/trigger`, { requestId });
  }

  run(runId: string): Promise<RunDetail> {
    return this.#client.call("GET", `/pipelines/runs/${runId}?attempts=all`);
  }

  /** Starts one run of a random kind and the client that acts on it. Does not wait for either. */
  startRun(): void {
    if (this.#deck.length === 0) {
      const deck = LOAD_KINDS.flatMap((kind) => Array.from({ length: SHARES[kind] }, () => kind));
      this.#deck = [...this.#random.shuffled(deck)];
    }
    const flow = this.#flow(this.#deck.pop()!);
    flow.catch(() => {}); // `settled` rejects with the failure.
    this.#flows.push(flow);
  }

  /** Resolves when every client has finished its calls; runs may still be running. Rejects when a client gave up. */
  async settled(): Promise<void> {
    await Promise.all(this.#flows);
  }

  async #flow(kind: LoadKind): Promise<void> {
    const random = this.#random.fork(`${kind}-${this.#count}`);
    const runId = await this.trigger(kind, ENDS[kind]);
    if (kind === "stopped") await this.#stop(runId, random);
    else if (kind === "paused") await this.#pauseAndResume(runId);
    else if (kind === "talking" || kind === "complaining") await this.#watch(runId, TALK_LINES, random);
    else if (kind === "flooding") await this.#watch(runId, FLOOD_LINES, random);
    else if (kind === "approved") await this.#voteOn(runId, "approve");
    else if (kind === "rejected") await this.#voteOn(runId, "reject");
    else if (kind === "repeated") await this.#repeat(runId);
    else if (kind === "confiding") await this.#rotateAndRead(runId, random);
    else if (kind === "blurting") await this.#readAll(runId);
  }

  /** Votes on every approval that the run waits for, until the run has ended. */
  async #voteOn(runId: string, word: "approve" | "reject"): Promise<void> {
    const voted = new Set<string>();
    for (;;) {
      const { pipelineId, approvals, status } = await this.run(runId);
      if (FINAL.includes(status)) return;
      for (const { approvalId, status: approvalStatus } of approvals) {
        if (approvalStatus !== "pending") continue;
        const path = `/pipelines/${pipelineId}/runs/${runId}/approvals/${approvalId}/${word}`;
        if (voted.has(approvalId)) continue;
        // As by a double click: the same vote in two calls, which must not count twice.
        const cast = ["once", "again"].map((time) => {
          const body = { requestId: `${time}-${approvalId}` };
          return this.#unlessTooLate(() => this.#client.call("POST", path, body));
        });
        const isCounted = (await Promise.all(cast)).includes(true);
        if (!isCounted) continue;
        voted.add(approvalId);
        this.votes.push({ runId, approvalId, word });
      }
      await sleep(POLL_MS);
    }
  }

  /** Waits for the end of the run and reruns its failed jobs once. */
  async #repeat(runId: string): Promise<void> {
    let run = await this.run(runId);
    for (; !FINAL.includes(run.status); run = await this.run(runId)) await sleep(POLL_MS);
    const requestId = `rerun-${runId}`;
    const body = { scope: "failed", requestId };
    const path = `/pipelines/${run.pipelineId}/runs/${runId}/rerun`;
    const again = await this.#client.call<{ runId: RunId }>("POST", path, body);
    this.acknowledged.push({
      requestId,
      runId: again.runId,
      definition: this.#definitions.get("repeated")!,
      vote: "approve",
      repeats: runId,
      ends: ENDS.repeated,
      exclusion: null,
    });
  }

  async #stop(runId: string, random: Random): Promise<void> {
    await sleep(random.between(0, 3_000));
    if (await this.#command("stopped", runId, "stop")) this.stops.push(runId);
  }

  /**
   * Repeats the pause until it is accepted: a pause before the start or after the end of the run is refused, as
   * promised.
   */
  async #pauseAndResume(runId: string): Promise<void> {
    const pause = () =>
      this.#command("paused", runId, "pause").catch((error: unknown) => {
        this.unansweredPauses.push(runId);
        throw error;
      });
    while (!(await pause())) {
      if (FINAL.includes((await this.run(runId)).status)) return;
      await sleep(POLL_MS);
    }
    await sleep(PAUSE_MS);
    this.pauses.push({ runId, resumeSentAt: Date.now() });
    await this.#command("paused", runId, "resume");
  }

  /** Answers false when the command was refused with 409. */
  async #command(kind: LoadKind, runId: string, word: "stop" | "pause" | "resume"): Promise<boolean> {
    const path = `/pipelines/${this.#pipelines.get(kind)!}/runs/${runId}/${word}`;
    const body = { requestId: `${word}-${runId}-${++this.#count}` };
    return this.#unlessTooLate(() => this.#client.call("POST", path, body));
  }

  /** Answers false when the call was refused with 409. */
  async #unlessTooLate(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.status === 409) return false;
      throw error;
    }
  }

  /** Gives a secret a new value while the run is running. */
  async #rotateAndRead(runId: string, random: Random): Promise<void> {
    await sleep(random.between(0, 2_000));
    await Promise.all([this.secrets.rotate(), this.#readAll(runId)]);
  }

  /** Reads everything that the API tells about a run, once the run has ended, for the search for secrets. */
  async #readAll(runId: string): Promise<void> {
    await this.#follow(runId, Infinity, this.#random.fork(runId));
    const { pipelineId } = await this.run(runId);
    for (const part of ["timeline", "agent-events", "outputs", "artifacts"]) {
      await this.#client.call("GET", `/pipelines/runs/${runId}/${part}`);
    }
    for (const part of ["", "/spec", "/secrets", "/runs"]) {
      await this.#client.call("GET", `/pipelines/${pipelineId}${part}`);
    }
  }

  /** Follows the log of every attempt of the run, as evidence for the checker. */
  async #watch(runId: string, lines: number, random: Random): Promise<void> {
    this.logs.push(...(await this.#follow(runId, lines, random)));
  }

  /** Follows the logs of all attempts until the run has ended. A step writes at most `lines` lines. */
  async #follow(runId: string, lines: number, random: Random): Promise<readonly LogEvidence[]> {
    const followers = new Map<string, LogFollower>();
    for (;;) {
      const { pipelineId, jobs, status } = await this.run(runId);
      const steps = jobs.flatMap((job) => job.steps.map((own) => ({ ...own, jobId: job.jobId })));
      for (const { jobId, stepRunId, status: stepStatus } of steps) {
        if (stepStatus === "pending" || followers.has(stepRunId)) continue;
        const name = { pipelineId, jobId, stepRunId };
        const written = { written: lines, mayOverflow: this.#mayOverflow && lines === FLOOD_LINES };
        followers.set(stepRunId, new LogFollower(this.#client, name, written, random.fork(stepRunId)));
      }
      if (FINAL.includes(status)) {
        const lastLineOf = (id: string) => steps.find(({ stepRunId }) => stepRunId === id)?.lastLine ?? null;
        const logs = [...followers].map(([stepRunId, follower]) => follower.finish(lastLineOf(stepRunId)));
        return Promise.all(logs);
      }
      await sleep(POLL_MS);
    }
  }
}
