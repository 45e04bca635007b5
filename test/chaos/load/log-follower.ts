/** A viewer of one step's log. It repeatedly cuts its connection and resumes after the last line that it has seen. */
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { LogEvidence } from "../check/evidence.ts";
import type { Random } from "../world/random.ts";
import type { Client } from "./client.ts";
import { withoutFilling } from "./step.ts";

export interface StepName {
  readonly pipelineId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

interface ReceivedMessage {
  readonly type: string;
  readonly data?: unknown;
}

interface Entry {
  readonly line_number: number;
  readonly content: string;
}

const RECONNECT_MS = 100;
/** After the history of a step that has ended, the viewer waits this long for further messages. */
const SILENCE_MS = 1_000;
/**
 * After this time, the control plane declares lines lost that the agent has not delivered; a viewer sees a gap record.
 */
const GIVE_UP_MS = 45_000;

export class LogFollower {
  readonly stepRunId: string;
  readonly #client: Client;
  readonly #name: StepName;
  readonly #written: number;
  readonly #random: Random;
  readonly #seen: LogEvidence["seen"][number][] = [];
  readonly #mayOverflow: boolean;
  readonly #done: Promise<void>;
  #highest = 0;
  #lastLine: number | null = null;
  #endedAt = Infinity;

  /** `written`: how many lines the step writes; `mayOverflow`: whether they are more than its agent has room for. */
  constructor(
    client: Client,
    name: StepName,
    { written, mayOverflow }: Pick<LogEvidence, "written" | "mayOverflow">,
    random: Random,
  ) {
    this.#client = client;
    this.#name = name;
    this.stepRunId = name.stepRunId;
    this.#written = written;
    this.#mayOverflow = mayOverflow;
    this.#random = random;
    this.#done = this.#follow();
  }

  /**
   * Call this once the step has ended. Resolves with everything that the viewer saw once it is complete: all lines up
   * to `lastLine`. For null, as after the loss of an agent, it is complete after one more connection.
   */
  async finish(lastLine: number | null): Promise<LogEvidence> {
    this.#lastLine = lastLine;
    this.#endedAt = performance.now();
    await this.#done;
    const seen = this.#seen;
    return { stepRunId: this.stepRunId, written: this.#written, mayOverflow: this.#mayOverflow, seen };
  }

  async #follow(): Promise<void> {
    while (this.#next <= this.#written) {
      const hadEnded = performance.now() > this.#endedAt;
      const hasHistory = await this.#listen(hadEnded ? null : this.#random.between(200, 1_500)).catch(() => false);
      const isAll = this.#next > (this.#lastLine ?? 0) || performance.now() > this.#endedAt + GIVE_UP_MS;
      if (hadEnded && hasHistory && isAll) return;
      await sleep(RECONNECT_MS);
    }
  }

  /** Number of the next line. */
  get #next(): number {
    return this.#highest + 1;
  }

  /**
   * Opens one connection and cuts it after `cutMs`; for null, once messages have stopped coming for `SILENCE_MS`.
   * Answers true when the whole history came.
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
        this.#client.reportAnswer(text, `the log of ${this.stepRunId}`);
        const { type, data: content } = JSON.parse(text) as ReceivedMessage;
        const entries = type === "log_chunk" ? (content as readonly Entry[]) : type === "log" ? [content as Entry] : [];
        for (const { line_number: number, content: text } of entries) {
          const gap = /^lines \d+-(\d+) lost$/.exec(text);
          const lostThrough = gap === null ? null : Number(gap[1]);
          this.#seen.push({ number, text: withoutFilling(text), lostThrough });
          this.#highest = Math.max(this.#highest, lostThrough ?? number);
        }
        if (type === "history_done") hasHistory = true;
        if (type === "error") socket.terminate();
        if (cutMs === null && hasHistory) waitForSilence();
      });
    });
  }
}
