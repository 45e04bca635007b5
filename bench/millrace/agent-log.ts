/** What the logs of nodes and agents tell the benchmark: the steps that an agent has started, and process ids. */
import type { StartedProcess } from "../../test/support/processes.ts";
import type { StepCounts } from "../measure/step-counts.ts";

/** The fields of a log line that the benchmark reads. */
export interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly stepRunId: string;
}

export class AgentLog {
  readonly #agent: Pick<StartedProcess, "stderr">;
  #read = 0;

  constructor(agent: Pick<StartedProcess, "stderr">) {
    this.#agent = agent;
  }

  /** The steps that the agent has started since the last call. */
  takeStepCounts(): StepCounts {
    const log = this.#agent.stderr;
    const end = log.lastIndexOf("\n") + 1;
    const counts = new Map<string, number>();
    for (const { msg, stepRunId } of linesOf(log.slice(this.#read, end))) {
      if (msg === "a step run begins") counts.set(stepRunId, (counts.get(stepRunId) ?? 0) + 1);
    }
    this.#read = end;
    return counts;
  }
}

/** The lines of a log that are JSON. */
export function linesOf(log: string): readonly LogLine[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}
