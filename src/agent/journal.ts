/**
 * The agent's memory of step runs, in a file that outlives its process: what was started, how it ended, and whether the
 * control plane knows. A step run that is in it is never started again. Not synced to the disk: after a power loss the
 * boot id is another one, and the plane counts everything of the old one as lost.
 */
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { type HeldStepRun, StepPhase, StepReport } from "../../proto/generated/agent/v1/agent.ts";
import type { Logger } from "../domain/logger.ts";

export interface JournalEntry extends Readonly<HeldStepRun> {
  /** Undefined until the step run has ended. */
  readonly report: StepReport | undefined;
  /** Unix milliseconds since when the plane knows the end, or never will; undefined while it is to be reported. */
  readonly settledAt: number | undefined;
  readonly begunAt: number;
}

/** How long a settled entry is remembered: a dispatch that was long on its way must still find it. */
const SETTLED_MS = 3_600_000;
/** How long an end is reported to a plane that does not answer. */
const UNSETTLED_MS = 7 * 24 * 3_600_000;
/** How many settled entries are remembered at most; the oldest go first. */
const SETTLED_COUNT = 5_000;
/** The file is written anew when it has grown to twice what was needed the last time, and this more. */
const SURPLUS_BYTES = 1 << 20;

type Stored = [step: string, token: string];

/** One line of the file. */
type JournalRecord =
  | { readonly t: "begun"; readonly at: number; readonly runId: string; readonly jobId: string; readonly key: Stored }
  | { readonly t: "ended"; readonly key: Stored; readonly report: unknown }
  | { readonly t: "settled"; readonly at: number; readonly key: Stored };

export class Journal {
  readonly #file: string;
  readonly #log: Logger;
  readonly #entries = new Map<string, JournalEntry>();
  #descriptor: number;
  /** The file ends within a line: the disk was full. */
  #isTorn = false;
  #bytes = 0;
  #neededBytes = 0;

  /** Reads the file; what had begun and not ended there is lost, as no step outlives its agent. */
  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
    for (const line of readLines(file)) this.#replay(line);
    this.#descriptor = this.#rewrite();
    for (const entry of this.#entries.values()) {
      if (entry.report === undefined) this.end(lostReport(entry, "the agent was restarted while the step ran"));
    }
  }

  find(stepRunId: string, token: bigint): JournalEntry | undefined {
    return this.#entries.get(keyOf(stepRunId, token));
  }

  /** Step runs that the agent answers for: begun, and not yet settled. */
  unsettled(): JournalEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.settledAt === undefined);
  }

  /** Records a step run before it is started. Throws when that cannot be written; then it must not be started. */
  begin({ runId, jobId, stepRunId, token }: HeldStepRun): void {
    this.#write({ t: "begun", at: Date.now(), runId, jobId, key: [stepRunId, String(token)] });
  }

  /** Of a step run that {@link begin} could not record: whoever answers for it must not start it while this agent lives. */
  remember({ runId, jobId, stepRunId, token }: HeldStepRun): void {
    this.#apply({ t: "begun", at: Date.now(), runId, jobId, key: [stepRunId, String(token)] });
  }

  /** Records the final report; it is kept in memory also when it cannot be written. */
  end(report: StepReport): void {
    const { stepRunId, token } = report;
    this.#writeOrWarn({ t: "ended", key: [stepRunId, String(token)], report: StepReport.toJSON(report) });
  }

  /** The plane knows the end of the step run, or does not want it. Nothing happens for one that still runs. */
  settle(stepRunId: string, token: bigint): void {
    const entry = this.find(stepRunId, token);
    if (entry?.report === undefined || entry.settledAt !== undefined) return;
    this.#writeOrWarn({ t: "settled", at: Date.now(), key: [stepRunId, String(token)] });
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #writeOrWarn(record: JournalRecord): void {
    try {
      this.#write(record);
    } catch (error) {
      this.#log.error({ file: this.#file, error: (error as Error).message }, "cannot write the journal");
      this.#apply(record);
    }
  }

  #write(record: JournalRecord): void {
    const line = Buffer.from(`${this.#isTorn ? "\n" : ""}${JSON.stringify(record)}\n`);
    const written = writeSync(this.#descriptor, line);
    this.#isTorn = written < line.length;
    if (this.#isTorn) throw new Error(`no space left for ${this.#file}`);
    this.#apply(record);
    this.#bytes += line.length;
    if (this.#bytes > 2 * this.#neededBytes + SURPLUS_BYTES) this.#shorten();
  }

  /** The record that made it necessary is written: a file that cannot be made shorter is used as it is. */
  #shorten(): void {
    try {
      const descriptor = this.#rewrite();
      closeSync(this.#descriptor);
      this.#descriptor = descriptor;
    } catch (error) {
      this.#log.warn({ file: this.#file, error: (error as Error).message }, "cannot shorten the journal");
      this.#neededBytes = this.#bytes;
    }
  }

  #replay(line: string): void {
    try {
      this.#apply(JSON.parse(line) as JournalRecord);
    } catch {
      // The last line of an agent that was killed while it wrote, or on a full disk.
      this.#log.warn({ file: this.#file }, "a line of the journal cannot be read");
    }
  }

  #apply(record: JournalRecord): void {
    const [stepRunId, token] = record.key;
    const key = keyOf(stepRunId, BigInt(token));
    const entry = this.#entries.get(key);
    switch (record.t) {
      case "begun": {
        const { runId, jobId, at } = record;
        const begun = { runId, jobId, stepRunId, token: BigInt(token), begunAt: at };
        this.#entries.set(key, { ...begun, report: undefined, settledAt: undefined });
        break;
      }
      case "ended":
        if (entry !== undefined) this.#entries.set(key, { ...entry, report: StepReport.fromJSON(record.report) });
        break;
      case "settled":
        if (entry !== undefined)
          this.#entries.set(key, { ...entry, report: shortened(entry.report), settledAt: record.at });
        break;
    }
  }

  /** Writes the file anew with what is still needed and opens it for more. */
  #rewrite(): number {
    this.#forget(Date.now());
    const records: JournalRecord[] = [];
    for (const { runId, jobId, stepRunId, token, report, settledAt, begunAt } of this.#entries.values()) {
      const key: Stored = [stepRunId, String(token)];
      records.push({ t: "begun", at: begunAt, runId, jobId, key });
      if (report !== undefined) records.push({ t: "ended", key, report: StepReport.toJSON(report) });
      if (settledAt !== undefined) records.push({ t: "settled", at: settledAt, key });
    }
    const content = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const draft = `${this.#file}.new`;
    writeFileSync(draft, content, { mode: 0o600 });
    const descriptor = openSync(draft, "a", 0o600);
    renameSync(draft, this.#file);
    this.#bytes = this.#neededBytes = content.length;
    return descriptor;
  }

  #forget(now: number): void {
    let surplus = -SETTLED_COUNT;
    for (const { settledAt } of this.#entries.values()) if (settledAt !== undefined) surplus++;
    for (const [key, { report, settledAt, begunAt }] of this.#entries) {
      if (settledAt !== undefined) {
        if (surplus-- > 0 || now - settledAt > SETTLED_MS) this.#entries.delete(key);
      } else if (report !== undefined && now - begunAt > UNSETTLED_MS) {
        this.#entries.delete(key);
      }
    }
  }
}

/** What is reported of a step run whose end nobody saw. */
export function lostReport({ runId, jobId, stepRunId, token }: Readonly<HeldStepRun>, reason: string): StepReport {
  return {
    runId,
    jobId,
    stepRunId,
    token,
    phase: StepPhase.STEP_PHASE_LOST,
    exitCode: -1,
    reason,
    lastLine: 0n,
    startedAtMs: 0n,
    endedAtMs: 0n,
    outputs: {},
    usage: undefined,
  };
}

/** What is still said of a step run that the plane has heard of: not what may be large. */
function shortened(report: StepReport | undefined): StepReport | undefined {
  return report && { ...report, outputs: {} };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function keyOf(stepRunId: string, token: bigint): string {
  return `${stepRunId}/${token}`;
}
