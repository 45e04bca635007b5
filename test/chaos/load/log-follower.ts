/** A viewer of one step's log that loses its connection again and again, and resumes where it stood. */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { LogEvidence } from "../check/evidence.ts";
import type { Random } from "../world/random.ts";
import type { Client } from "./client.ts";

export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface Told {
  readonly type: string;
  readonly data?: unknown;
}

interface Entry {
  readonly line_number: number;
  readonly content: string;
}

const RECONNECT_MS = 100;
/** How long the viewer waits for more after the history of a step that has ended. */
const SILENCE_MS = 1_000;
/** What an agent could not deliver by then is declared lost by the plane, which a viewer would see as a gap. */
const PATIENCE_MS = 45_000;

export class LogFollower {
  readonly stepRunId: string;
  readonly #client: Client;
  readonly #name: StepName;
  readonly #written: number;
  readonly #random: Random;
  readonly #seen: LogEvidence["seen"][number][] = [];
  readonly #done: Promise<void>;
  #lastLine: number | null = null;
  #endedAt = Infinity;

  constructor(client: Client, name: StepName, written: number, random: Random) {
    this.#client = client;
    this.#name = name;
    this.stepRunId = name.stepRunId;
    this.#written = written;
    this.#random = random;
    this.#done = this.#follow();
  }

  /**
   * The step is over. Resolves with all that was seen once that is all there can be: the lines up to `lastLine`, or for
   * null, as for an agent that was lost, what a new connection tells.
   */
  async finish(lastLine: number | null): Promise<LogEvidence> {
    this.#lastLine = lastLine;
    this.#endedAt = performance.now();
    await this.#done;
    return { stepRunId: this.stepRunId, written: this.#written, seen: this.#seen };
  }

  async #follow(): Promise<void> {
    while (this.#next <= this.#written) {
      const wasOver = performance.now() > this.#endedAt;
      const heard = await this.#listen(wasOver ? null : this.#random.between(200, 1_500)).catch(() => false);
      const isAll = this.#next > (this.#lastLine ?? 0) || performance.now() > this.#endedAt + PATIENCE_MS;
      if (wasOver && heard && isAll) return;
      await sleep(RECONNECT_MS);
    }
  }

  get #next(): number {
    return this.#seen.reduce((highest, { number, lostThrough }) => Math.max(highest, lostThrough ?? number), 0) + 1;
  }

  /**
   * One connection, cut after `cutMs`, or with null when the history has come and nothing follows it. True when the
   * history was complete.
   */
  async #listen(cutMs: number | null): Promise<boolean> {
    const socket = new WebSocket(`${this.#client.anyUrl().replace("http", "ws")}/api/v1/ws`, {
      headers: { authorization: this.#client.authorization },
      handshakeTimeout: 5_000,
    });
    return new Promise<boolean>((resolve, reject) => {
      let hasHistory = false;
      let timer = cutMs === null ? undefined : setTimeout(() => socket.terminate(), cutMs);
      const waitForSilence = () => {
        clearTimeout(timer);
        timer = setTimeout(() => socket.terminate(), SILENCE_MS);
      };
      socket.on("error", reject);
      socket.on("close", () => {
        clearTimeout(timer);
        resolve(hasHistory);
      });
      socket.on("open", () => {
        const params = { ...this.#name, fromLine: this.#next };
        socket.send(JSON.stringify({ channel: "channel_log", params }));
      });
      socket.on("message", (data: Buffer) => {
        const text = data.toString("utf8");
        this.#client.heard(text, `the log of ${this.stepRunId}`);
        const told = JSON.parse(text) as Told;
        const entries =
          told.type === "log_chunk" ? (told.data as readonly Entry[]) : told.type === "log" ? [told.data as Entry] : [];
        for (const { line_number: number, content: text } of entries) {
          const gap = /^lines \d+-(\d+) lost$/.exec(text);
          this.#seen.push({ number, text, lostThrough: gap === null ? null : Number(gap[1]) });
        }
        if (told.type === "history_done") hasHistory = true;
        if (told.type === "error") socket.terminate();
        if (cutMs === null) waitForSilence();
      });
    });
  }
}
