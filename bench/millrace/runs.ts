/** Triggers runs of an installation, waits for their ends, and checks that each of their steps ran once. */
import { until } from "../../test/support/until.ts";
import { asId, jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import { expectOnce, type StepCounts } from "../measure/step-counts.ts";
import type { Figure } from "../system.ts";
import type { Installation } from "./installation.ts";
import { PolledEnds } from "./polled-ends.ts";
import type { RunEnds } from "./run-ends.ts";

export interface Job {
  readonly steps: readonly object[];
  /** The labels that an agent must have; none by default. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Pipeline {
  readonly id: string;
  readonly jobs: readonly Job[];
}

const LOG_MS = 5_000;
const SHOWN_DETAIL_CHARS = 2_000;

/** What is asked of an installation whose runs are triggered. */
type Triggered = Pick<Installation, "api" | "takeStepCounts" | "logTails">;

export const NO_OP = { uses: "shell", args: { command: "true" } };

export class Runs {
  readonly #installation: Triggered;
  readonly #ends: RunEnds;
  readonly #expectedSteps: string[] = [];
  #pipelines = 0;

  constructor(installation: Triggered, ends: RunEnds = new PolledEnds(installation)) {
    this.#installation = installation;
    this.#ends = ends;
  }

  async pipeline(jobs: readonly Job[]): Promise<Pipeline> {
    const { api } = this.#installation;
    const name = `bench-${process.hrtime.bigint()}-${this.#pipelines++}`;
    const { pipelineId: id } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name });
    const spec = {
      jobs: jobs.map(({ steps, labels = {} }, index) => ({
        name: `job-${index}`,
        agentSelector: { matchLabels: labels },
        steps: steps.map((step, at) => ({ ...step, name: `step-${at}` })),
      })),
    };
    await api.call("POST", `/pipelines/${id}/spec/save`, { spec });
    return { id, jobs };
  }

  /** Triggers a run. Resolves when the run is stored. */
  async trigger({ id }: Pipeline, variables: Readonly<Record<string, string>> = {}): Promise<RunId> {
    const answer = await this.#installation.api.call<{ runId: string }>("POST", `/pipelines/${id}/trigger`, {
      variables,
    });
    return asId<RunId>(answer.runId);
  }

  /** Triggers a run and waits for its end. Resolves with its id. Rejects unless the run succeeded. */
  async run(pipeline: Pipeline, variables: Readonly<Record<string, string>> = {}): Promise<RunId> {
    await this.#ends.follow();
    const runId = await this.trigger(pipeline, variables);
    this.#expectedSteps.push(...stepsOf(runId, pipeline));
    const status = await this.#ends.of(runId, pipeline.id);
    if (status !== "success") {
      const detail = JSON.stringify(await this.#read(runId));
      throw new Error(`the run ${runId} ended as ${status}: ${detail.slice(0, SHOWN_DETAIL_CHARS)}`);
    }
    return runId;
  }

  /** The `endTime` of a run that has ended, Unix milliseconds. */
  async endOf(runId: RunId): Promise<number> {
    return Date.parse((await this.#read(runId)).endTime!);
  }

  /**
   * Rejects unless, by the agent's log, exactly the steps of the runs that `measure` triggers have started, each once.
   */
  async checked(measure: () => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
    this.#expectedSteps.length = 0;
    this.#installation.takeStepCounts();
    let figures: readonly Figure[] = [];
    let fault: unknown;
    try {
      figures = await measure();
    } catch (error) {
      fault = error;
    }
    try {
      expectOnce(this.#expectedSteps, await this.#startedSteps(), fault);
      if (fault !== undefined) throw fault;
      return figures;
    } catch (error) {
      throw new Error(this.#installation.logTails(), { cause: error });
    }
  }

  /** The started steps, by the agent's log, which may arrive after the end of the run. */
  async #startedSteps(): Promise<StepCounts> {
    const counts = new Map<string, number>();
    const allSeen = (): boolean => {
      for (const [id, times] of this.#installation.takeStepCounts()) counts.set(id, (counts.get(id) ?? 0) + times);
      return counts.size >= this.#expectedSteps.length;
    };
    await until("every step in the agent's log", allSeen, LOG_MS).catch(() => {}); // The caller reports missing steps.
    return counts;
  }

  #read(runId: RunId): Promise<{ readonly endTime: string | null }> {
    return this.#installation.api.call("GET", `/pipelines/runs/${runId}`);
  }
}

/** The ids of a run's steps in their first attempts. No other step may start. */
function stepsOf(runId: RunId, { jobs }: Pipeline): readonly string[] {
  return jobs.flatMap(({ steps }, jobIndex) => {
    const jobId = jobRunId(runId, jobIndex, 1);
    return steps.map((_, stepIndex) => stepRunId(runId, jobId, stepIndex, 1));
  });
}
