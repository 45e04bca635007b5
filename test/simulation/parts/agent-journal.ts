/** What a simulated agent remembers on its disk, and what its process holds in memory. */
import type { ReportPhase } from "../../../actors/step/messages.ts";
import type { JobRunId, StepRunId } from "../../../src/domain/ids.ts";

/** A step run under one token, from its dispatch until the agent may forget it. */
export interface JournalEntry {
  readonly stepRunId: StepRunId;
  readonly jobId: JobRunId;
  readonly token: number;
  /** `settled`: the end was acknowledged or refused; only the key is remembered. */
  state: "running" | "ended" | "settled";
  /** Set once the step has ended. */
  end: { readonly phase: ReportPhase; readonly exitCode: number } | null;
}

/** Survives the process of the agent. */
export class Journal {
  readonly #entries = new Map<string, JournalEntry>();

  find(stepRunId: StepRunId, token: number): JournalEntry | undefined {
    return this.#entries.get(`${stepRunId}/${token}`);
  }

  add(entry: JournalEntry): void {
    this.#entries.set(`${entry.stepRunId}/${entry.token}`, entry);
  }

  /** Entries that the control plane must hear of: running ones, and ends that it has not acknowledged. */
  held(): readonly JournalEntry[] {
    return [...this.#entries.values()].filter(({ state }) => state !== "settled");
  }

  unacknowledged(): readonly JournalEntry[] {
    return [...this.#entries.values()].filter(({ state }) => state === "ended");
  }

  ofJob(jobId: JobRunId): readonly JournalEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.jobId === jobId);
  }
}
