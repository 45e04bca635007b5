/**
 * A viewer of one log, as cheap for the benchmark as it can be: it reads its socket itself, keeps what comes, and parses it
 * after the measurement. When its edge dies, it connects to another one and resumes behind its last line.
 */
import { TOKEN } from "../millrace/installation.ts";
import { openRawSocket, type RawSocket } from "./raw-socket.ts";

export interface FollowedStep {
  readonly pipelineId: string;
  readonly runId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

export interface SeenLine {
  readonly number: number;
  readonly content: string;
  /** Monotonic nanoseconds. */
  readonly at: bigint;
  /** False for a line that came with the history after a reconnect. */
  readonly isLive: boolean;
}

interface ViewerMessage {
  readonly type: string;
  readonly error?: string;
  readonly data: LineData | readonly LineData[] | null;
}

interface LineData {
  readonly line_number: number;
  readonly content: string;
}

export class LogViewer {
  readonly step: FollowedStep;
  /** `host:port` of the edges, in the order in which they are tried. */
  readonly #edges: string[];
  readonly #received: { readonly text: Buffer; readonly at: bigint }[] = [];
  #socket: RawSocket | undefined;
  #isClosed = false;
  #reconnects = 0;
  readonly #seen: SeenLine[] = [];

  constructor(step: FollowedStep, edges: readonly string[]) {
    this.step = step;
    this.#edges = [...edges];
  }

  get reconnects(): number {
    return this.#reconnects;
  }

  /** Resolves when the subscription is made. */
  async open(): Promise<void> {
    let isSubscribed = (): void => {};
    const subscribed = new Promise<void>((resolve) => (isSubscribed = resolve));
    const socket = await openRawSocket(`http://${this.#edges[0]}/api/v1/ws`, TOKEN, {
      message: (text) => {
        this.#received.push({ text, at: process.hrtime.bigint() });
        isSubscribed();
      },
      close: () => this.#reopen(),
    });
    this.#socket = socket;
    const { pipelineId, jobId, stepRunId } = this.step;
    const fromLine = (this.lines().at(-1)?.number ?? 0) + 1;
    socket.send(JSON.stringify({ channel: "channel_log", params: { pipelineId, jobId, stepRunId, fromLine } }));
    await subscribed;
  }

  /** Parses what has come since the last call. Throws when the server reported an error. */
  lines(): readonly SeenLine[] {
    for (const { text, at } of this.#received.splice(0)) {
      const { type, data, error } = JSON.parse(text.toString()) as ViewerMessage;
      if (type === "error") throw new Error(`a viewer was refused: ${error}`);
      if (type !== "log" && type !== "log_chunk") continue;
      for (const { line_number: number, content } of [data as LineData].flat()) {
        this.#seen.push({ number, content, at, isLive: type === "log" });
      }
    }
    return this.#seen;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #reopen(): void {
    if (this.#isClosed) return;
    this.#reconnects++;
    this.#edges.push(this.#edges.shift()!);
    this.open().catch(() => setTimeout(() => this.#reopen(), 100));
  }
}
