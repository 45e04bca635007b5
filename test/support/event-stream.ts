/** A client of an event stream over a real connection, which keeps every message that it receives. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { until } from "./until.ts";

export interface StreamMessage {
  readonly id: string | null;
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any message
  readonly data: any;
}

export class TestEventStream {
  readonly response: IncomingMessage;
  readonly received: StreamMessage[] = [];
  /** The bytes that came, comments included. */
  text = "";
  /** Resolves when the connection is over, cut off or not. */
  readonly ended: Promise<void>;
  #rest = "";

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#read(text));
    response.on("error", () => {});
    this.ended = new Promise((resolve) => void response.once("close", () => resolve()));
  }

  /** `path`: below `/api/v1`. Every status is answered. */
  static async open(
    { port }: { readonly port: number },
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<TestEventStream> {
    const request = get(`http://127.0.0.1:${port}/api/v1${path}`, { headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return new TestEventStream(response);
  }

  get status(): number {
    return this.response.statusCode!;
  }

  /** The first message of that type; waits for it when it has not come yet. */
  next(type: string): Promise<StreamMessage> {
    return until(`a message ${type}`, () => this.received.find((message) => message.type === type));
  }

  ofType(type: string): readonly StreamMessage[] {
    return this.received.filter((message) => message.type === type);
  }

  close(): void {
    this.response.destroy();
  }

  #read(text: string): void {
    this.text += text;
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data !== undefined) {
        this.received.push({ id: field("id") ?? null, type: field("event")!, data: JSON.parse(data) });
      }
    }
  }
}
