/**
 * The agent's journal: a file that records which step runs were started, how each ended, and whether the control plane
 * has acknowledged the end. The agent never starts a step run that is in the journal. The file is not synced to the
 * disk: after a power loss the agent has a new boot id, and the control plane counts every step run of the old boot id
 * as lost.
 */
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { type HeldStepRun, StepPhase, StepReport } from "../../proto/generated/agent/v1/agent.ts";
import type { Logger } from "../domain/logger.ts";

export interface JournalEntry extends Readonly<HeldStepRun> {
  /** Undefined until the step run has ended. */
  readonly report: StepReport | undefined;
  /**
   * Unix milliseconds of the time when the control plane acknowledged or refused the end; undefined while the agent
   * must still report it.
   */
  readonly settledAt: number | undefined;
  /** Unix milliseconds. */
  readonly begunAt: number;
}

/** How long a settled entry is kept, so that a delayed dispatch still finds it. */
const SETTLED_MS = 3_600_000;
/** How long the agent keeps reporting an end that the control plane does not acknowledge. */
const UNSETTLED_MS = 7 * 24 * 3_600_000;
/** How many settled entries are kept at most. The oldest are removed first. */
const MAX_SETTLED = 5_000;
/** A report without outputs and notes. */
const NOTHING_LARGE = { outputs: {}, notes: undefined };
/** The file is rewritten when it is larger than twice its size after the last rewrite plus this surplus. */
const SURPLUS_BYTES = 1 << 20;

/** A step run and its token, as JSON holds them. */
type StoredKey = [step: string, token: string];

/** One line of the file. */
type JournalRecord =
  | {
      readonly t: "begun";
      readonly at: number;
      readonly runId: string;
      readonly jobId: string;
      readonly key: StoredKey;
    }
  | { readonly t: "ended"; readonly key: StoredKey; readonly report: unknown }
  | { readonly t: "settled"; readonly at: number; readonly key: StoredKey };

export class Journal {
  readonly #file: string;
  readonly #log: Logger;
  readonly #entries = new Map<string, JournalEntry>();
  /** Those of the entries that are not settled: there are few of them, and thousands of settled ones. */
  readonly #unsettled = new Map<string, JournalEntry>();
  #descriptor: number;
  /** True when the last line of the file is incomplete, because the disk was full. */
  #isTorn = false;
  #bytes = 0;
  #neededBytes = 0;

  /**
   * Reads the file. A step run that began and did not end there is recorded as lost, since no step outlives its agent.
   */
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

  /** Step runs that the agent must still report: those that have begun and are not settled. */
  unsettled(): JournalEntry[] {
    return [...this.#unsettled.values()];
  }

  /**
   * Records a step run before it is started. Throws when the record cannot be written; the step must not start then.
   */
  begin({ runId, jobId, stepRunId, token }: HeldStepRun): void {
    this.#write({ t: "begun", at: Date.now(), runId, jobId, key: [stepRunId, String(token)] });
  }

  /** Keeps in memory a step run that {@link begin} could not record, so that this process does not start it later. */
  remember({ runId, jobId, stepRunId, token }: HeldStepRun): void {
    this.#apply({ t: "begun", at: Date.now(), runId, jobId, key: [stepRunId, String(token)] });
  }

  /** Records the final report. If the file cannot be written, the report is kept in memory alone. */
  end(report: StepReport): void {
    const { stepRunId, token } = report;
    const record: JournalRecord = { t: "ended", key: [stepRunId, String(token)], report: StepReport.toJSON(report) };
    this.#writeOrWarn(record, report);
  }

  /** The control plane has acknowledged or refused the end of the step run. No effect while the step run is running. */
  settle(stepRunId: string, token: bigint): void {
    const entry = this.find(stepRunId, token);
    if (entry?.report === undefined || entry.settledAt !== undefined) return;
    this.#writeOrWarn({ t: "settled", at: Date.now(), key: [stepRunId, String(token)] });
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** `report`: that of the record, if it has one. */
  #writeOrWarn(record: JournalRecord, report?: StepReport): void {
    try {
      this.#write(record, report);
    } catch (error) {
      this.#log.error({ file: this.#file, error: (error as Error).message }, "cannot write the journal");
      this.#apply(record, report);
    }
  }

  #write(record: JournalRecord, report?: StepReport): void {
    const line = Buffer.from(`${this.#isTorn ? "\n" : ""}${JSON.stringify(record)}\n`);
    const written = writeSync(this.#descriptor, line);
    this.#isTorn = written < line.length;
    if (this.#isTorn) throw new Error(`no space left for ${this.#file}`);
    this.#apply(record, report);
    this.#bytes += line.length;
    if (this.#bytes > 2 * this.#neededBytes + SURPLUS_BYTES) this.#shorten();
  }

  /** Rewrites the file without what is no longer needed. If that fails, the journal goes on with the long file. */
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
      // The line is incomplete: an earlier agent was killed while it wrote, or the disk was full.
      this.#log.warn({ file: this.#file }, "a line of the journal cannot be read");
    }
  }

  #apply(record: JournalRecord, report?: StepReport): void {
    const [stepRunId, token] = record.key;
    const key = keyOf(stepRunId, BigInt(token));
    const entry = this.#entries.get(key);
    switch (record.t) {
      case "begun": {
        const { runId, jobId, at } = record;
        const begun = { runId, jobId, stepRunId, token: BigInt(token), begunAt: at };
        this.#put(key, { ...begun, report: undefined, settledAt: undefined });
        break;
      }
      case "ended":
        if (entry !== undefined) this.#put(key, { ...entry, report: report ?? StepReport.fromJSON(record.report) });
        break;
      case "settled":
        if (entry !== undefined) this.#put(key, { ...entry, report: shortened(entry.report), settledAt: record.at });
        break;
    }
  }

  #put(key: string, entry: JournalEntry): void {
    this.#entries.set(key, entry);
    if (entry.settledAt === undefined) this.#unsettled.set(key, entry);
    else this.#unsettled.delete(key);
  }

  /** Writes a new file with the entries that are still needed. Returns its descriptor, opened for appending. */
  #rewrite(): number {
    this.#forget(Date.now());
    const records: JournalRecord[] = [];
    for (const { runId, jobId, stepRunId, token, report, settledAt, begunAt } of this.#entries.values()) {
      const key: StoredKey = [stepRunId, String(token)];
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
    let surplus = this.#entries.size - this.#unsettled.size - MAX_SETTLED;
    for (const [key, { report, settledAt, begunAt }] of this.#entries) {
      if (settledAt !== undefined) {
        if (surplus-- > 0 || now - settledAt > SETTLED_MS) this.#entries.delete(key);
      } else if (report !== undefined && now - begunAt > UNSETTLED_MS) {
        this.#entries.delete(key);
        this.#unsettled.delete(key);
      }
    }
  }
}

/** The report of a step run whose end the agent did not see. */
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
    ...NOTHING_LARGE,
    usage: undefined,
  };
}

/** A settled report without its outputs and notes, which may be large. */
function shortened(report: StepReport | undefined): StepReport | undefined {
  return report && { ...report, ...NOTHING_LARGE };
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
