/**
 * The agents that were started here, each in a slot with a number. A start is written to a file before it happens, so that
 * an autoscaler which is killed at any moment and started again finds every agent that it has started, and starts none twice.
 */
import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { isLocked, SqliteConnection } from "../sqlite/connection.ts";
import { abandon, processOf, startClaimed } from "./claimed-process.ts";

const STATE_FILE = "autoscale.db";
/** How long the claim of a start that was abandoned stays: a process that wakes up later finds its folder without it. */
const KEEP_CLAIMS_MS = 7 * 86_400_000;

export interface AgentSlotsOptions {
  /** Only one autoscaler at a time may use it. It is created when it is missing. */
  readonly dataDir: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** The environment of the agent of a slot, whose own folder is given. */
  readonly environmentOf: (slot: number, folder: string) => NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Called when an agent that this process has started has ended. */
  readonly onEnded?: (end: AgentEnd) => void;
}

export interface AgentEnd {
  readonly slot: number;
  /** Null when a signal has ended it. */
  readonly code: number | null;
  /** How long it has run, milliseconds. */
  readonly ranMs: number;
  readonly logFile: string;
}

interface Row {
  readonly slot: number;
  readonly key: string;
}

export class AgentSlots {
  readonly #options: AgentSlotsOptions;
  readonly #root: string;
  readonly #state: SqliteConnection;
  /** Keys of starts whose process was made by this process and has not ended. */
  readonly #children = new Set<string>();

  /** Throws `conflict` when another autoscaler uses the directory, and `unavailable` when the directory cannot be used. */
  static open(options: AgentSlotsOptions): AgentSlots {
    const root = resolve(options.dataDir);
    let state: SqliteConnection | undefined;
    try {
      mkdirSync(join(root, "claims"), { recursive: true, mode: 0o700 });
      state = new SqliteConnection(join(root, STATE_FILE));
      // The lock of the file is held until this process ends, also when it is killed. A row is on the disk before its start.
      state.pragma("locking_mode = EXCLUSIVE");
      state.pragma("synchronous = FULL");
      state.exec("BEGIN EXCLUSIVE");
      state.exec("CREATE TABLE IF NOT EXISTS agents (slot INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT");
      state.exec("COMMIT");
      return new AgentSlots(options, root, state);
    } catch (error) {
      state?.close();
      if (isLocked(error)) throw new MillraceError("conflict", `an autoscaler already runs on ${root}: stop it first`);
      const text = `cannot use the directory ${root} (${(error as Error).message}): make it writable, or choose another`;
      throw new MillraceError("unavailable", text, { cause: error });
    }
  }

  private constructor(options: AgentSlotsOptions, root: string, state: SqliteConnection) {
    this.#options = options;
    this.#root = root;
    this.#state = state;
    for (const { slot, key } of this.#rows()) if (abandon(this.#claimOf(key))) this.#free(slot, key);
    this.#removeOldClaims();
  }

  /** The slots of the agents whose processes live. Frees the slots of the others. */
  living(): readonly number[] {
    return this.#rows().flatMap(({ slot, key }) => {
      if (this.#isLiving(key)) return [slot];
      this.#free(slot, key);
      return [];
    });
  }

  /** Starts an agent in the lowest free slot from 1, and answers the slot. */
  start(): number {
    const taken = new Set(this.#rows().map(({ slot }) => slot));
    let slot = 1;
    while (taken.has(slot)) slot++;
    const key = randomUUID();
    const folder = join(this.#root, `agent-${slot}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#state.prepare("INSERT INTO agents (slot, key) VALUES (?, ?)").run(slot, key);
    this.#spawn(slot, key, folder);
    return slot;
  }

  /** Asks the agent of the slot to end. It finishes what it holds. */
  stop(slot: number): void {
    const row = this.#rows().find((one) => one.slot === slot);
    const pid = row === undefined ? undefined : processOf(this.#claimOf(row.key));
    try {
      if (pid !== undefined) process.kill(pid, "SIGTERM");
    } catch {
      // The process has ended meanwhile.
    }
  }

  /** The agents go on. */
  close(): void {
    this.#state.close();
  }

  #spawn(slot: number, key: string, folder: string): void {
    const { command, environmentOf, log, onEnded } = this.#options;
    const logFile = join(this.#root, `agent-${slot}.log`);
    if (statSync(logFile, { throwIfNoEntry: false }) !== undefined) renameSync(logFile, `${logFile}.1`);
    const output = openSync(logFile, "a", 0o600);
    const startedAt = performance.now();
    const child = startClaimed({
      claim: this.#claimOf(key),
      command,
      environment: environmentOf(slot, folder),
      folder,
      output,
    });
    closeSync(output);
    this.#children.add(key);
    const end = (code: number | null): void => {
      if (!this.#children.delete(key)) return;
      onEnded?.({ slot, code, ranMs: performance.now() - startedAt, logFile });
    };
    child.once("exit", end);
    child.once("error", (error) => {
      log.error({ slot, error: error.message }, "an agent could not be started");
      end(null);
    });
    child.unref();
    log.info({ slot, pid: child.pid, logFile }, "an agent was started");
  }

  #isLiving(key: string): boolean {
    return this.#children.has(key) || processOf(this.#claimOf(key)) !== undefined;
  }

  /** The row goes before the claim: a claim without a row is only a small file. */
  #free(slot: number, key: string): void {
    this.#state.prepare("DELETE FROM agents WHERE slot = ? AND key = ?").run(slot, key);
  }

  #rows(): readonly Row[] {
    return this.#state.prepare("SELECT slot, key FROM agents ORDER BY slot").all() as Row[];
  }

  #claimOf(key: string): string {
    return join(this.#root, "claims", key);
  }

  #removeOldClaims(): void {
    const kept = new Set(this.#rows().map(({ key }) => key));
    const claims = join(this.#root, "claims");
    for (const name of readdirSync(claims)) {
      const file = join(claims, name);
      const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (!kept.has(name) && age > KEEP_CLAIMS_MS) rmSync(file, { force: true });
    }
  }
}
