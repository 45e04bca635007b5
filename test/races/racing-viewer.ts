/**
 * Viewers that subscribe at a given moment and, when their edge dies, connect to the next one and resume, as a page does.
 * They keep what they see, apart for each connection.
 */
import { WebSocket } from "ws";
import { TestEventStream } from "../support/event-stream.ts";
import type { RaceWorld } from "./race-world.ts";

export interface FollowedStep {
  readonly pipelineId: string;
  readonly runId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

/** A live message, whichever connection it came by. */
export interface Message {
  readonly type: string;
  readonly after: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- the judge reads any message
  readonly data: any;
}

export const VIEWER_KINDS = ["log", "log stream", "status", "run", "run stream"] as const;
export type ViewerKind = (typeof VIEWER_KINDS)[number];

const RECONNECT_MS = 50;
const STREAM_HEADERS = { accept: "text/event-stream" };

export class RacingViewer {
  readonly kind: ViewerKind;
  /** The messages of each connection, oldest first. */
  readonly connections: Message[][] = [];
  readonly #world: RaceWorld;
  readonly #step: FollowedStep;
  #edge: number;
  #isClosed = false;
  #cut: () => void = () => undefined;

  /** Begins to follow at once. `edge` is the index of its first edge. */
  constructor(world: RaceWorld, kind: ViewerKind, step: FollowedStep, edge: number) {
    this.kind = kind;
    this.#world = world;
    this.#step = step;
    this.#edge = edge;
    void this.#follow();
  }

  get messages(): readonly Message[] {
    return this.connections.flat();
  }

  close(): void {
    this.#isClosed = true;
    this.#cut();
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      const seen: Message[] = [];
      const after = this.#place();
      this.connections.push(seen);
      await (this.kind.endsWith("stream") ? this.#stream(seen, after) : this.#socket(seen, after)).catch(
        () => undefined,
      );
      this.#edge = (this.#edge + 1) % this.#world.edges.length;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  /** The place behind the last message: the number of the last event, or the number of the last line. */
  #place(): string | undefined {
    const { messages } = this;
    if (!this.kind.startsWith("log")) return messages.findLast(({ after }) => after !== undefined)?.after;
    const last = messages.flatMap(({ type, data }) => (isLines(type) ? [data].flat() : [])).at(-1);
    return last === undefined ? undefined : String(last.line_number);
  }

  /** Resolves when the connection is lost. */
  #socket(seen: Message[], after: string | undefined): Promise<void> {
    const { pipelineId, jobId, stepRunId, runId } = this.#step;
    const socket = new WebSocket(`ws://${this.#world.edges[this.#edge]}/api/v1/ws`, {
      headers: { authorization: this.#world.authorization },
    });
    this.#cut = () => socket.terminate();
    socket.on("open", () => {
      const ids = { pipelineId, jobId, stepRunId };
      const log = after === undefined ? ids : { ...ids, fromLine: Number(after) + 1 };
      const run = after === undefined ? { runId } : { runId, after };
      const params = this.kind === "log" ? log : this.kind === "status" ? ids : run;
      socket.send(JSON.stringify({ channel: `channel_${this.kind}`, params }));
    });
    socket.on("message", (text: Buffer) => seen.push(JSON.parse(text.toString()) as Message));
    return new Promise((resolve, reject) => socket.on("close", resolve).on("error", reject));
  }

  /** Resolves when the stream is over. */
  async #stream(seen: Message[], after: string | undefined): Promise<void> {
    const { pipelineId, runId, stepRunId } = this.#step;
    const path =
      this.kind === "log stream"
        ? `/pipelines/${pipelineId}/runs/${runId}/steps/${stepRunId}/logs`
        : `/live/run?runId=${runId}`;
    const port = Number(this.#world.edges[this.#edge]!.split(":")[1]);
    const stream = await TestEventStream.open({ port }, path, {
      ...STREAM_HEADERS,
      authorization: this.#world.authorization,
      ...(after === undefined ? {} : { "last-event-id": after }),
    });
    this.#cut = () => stream.close();
    if (this.#isClosed) stream.close();
    // Nothing can follow: a page does not connect again.
    if (stream.status === 204) this.#isClosed = true;
    await stream.ended;
    for (const { type, id, data } of stream.received) seen.push({ type, data, after: id ?? undefined });
    if (stream.received.some(({ type }) => type === "ended")) this.#isClosed = true;
  }
}

/** True for a message whose data are one line, or several lines, of a log. */
export const isLines = (type: string): boolean => type === "log" || type === "log_chunk" || type === "lines";
