/** One Connect stream from its hello to its end: heartbeats out, orders in. */
import { type ClientDuplexStream, type Metadata, status } from "@grpc/grpc-js";
import type {
  AgentClient,
  ConnectRequest,
  ConnectResponse,
  HeldStepRun,
} from "../../../proto/generated/agent/v1/agent.ts";
import type { Clock } from "../../domain/clock.ts";
import { UNCOMPRESSED } from "./gateway-clients.ts";

const WELCOME_MS = 10_000;
const SHORTEST_HEARTBEAT_MS = 50;
/** A plane that takes in nothing for so many messages gets no more; what matters is sent again. */
const QUEUED_MESSAGES = 1_000;

type Message = NonNullable<ConnectRequest["message"]>;
export type Instruction = Exclude<NonNullable<ConnectResponse["message"]>, { $case: "welcome" | "heartbeatAck" }>;

export interface ControlStreamOptions {
  readonly client: AgentClient;
  readonly metadata: Metadata;
  readonly clock: Clock;
  readonly bootId: string;
  readonly labels: Record<string, string>;
  readonly slots: number;
  readonly version: string;
  /** Grows by one with each heartbeat of this boot, over all streams. */
  readonly nextSequence: () => bigint;
  /** What the agent holds at this moment, and why it takes no more, if it does not. */
  readonly held: () => { held: HeldStepRun[]; heldJobIds: string[]; takesNoJobs: string };
  /** The plane has acknowledged what was sent at `sentAt` by the monotonic clock. */
  readonly onContact: (sentAt: number) => void;
  readonly onWelcome: (agentId: string) => void;
  readonly onInstruction: (order: Instruction) => void;
}

/** How a stream ended. */
export interface ControlStreamEnd {
  readonly code: status;
  readonly details: string;
  /** How long the agent was welcome; 0 when it never was. */
  readonly welcomeMs: number;
}

export class ControlStream {
  readonly ended: Promise<ControlStreamEnd>;
  readonly #options: ControlStreamOptions;
  readonly #stream: ClientDuplexStream<ConnectRequest, ConnectResponse>;
  /** When each unacknowledged heartbeat was sent. */
  readonly #sentAt = new Map<bigint, number>();
  readonly #helloAt: number;
  readonly #welcomeTimer: NodeJS.Timeout;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #welcomeAt: number | undefined;
  #isOver = false;

  /** Opens the stream and says hello. */
  constructor(options: ControlStreamOptions) {
    this.#options = options;
    const { client, metadata, clock, bootId, labels, slots, version } = options;
    this.#stream = client.connect(metadata);
    this.#helloAt = clock.monotonic();
    this.ended = new Promise((resolve) => {
      const end = (code: status, details: string) => {
        this.#isOver = true;
        clearTimeout(this.#welcomeTimer);
        clearInterval(this.#heartbeatTimer);
        const welcomeMs = this.#welcomeAt === undefined ? 0 : clock.monotonic() - this.#welcomeAt;
        resolve({ code, details, welcomeMs });
      };
      this.#stream.on("error", (error: Error & { code?: number; details?: string }) =>
        end(error.code ?? status.UNKNOWN, error.details ?? error.message),
      );
      this.#stream.on("end", () => end(status.OK, "ended by the control plane"));
    });
    this.#welcomeTimer = setTimeout(() => this.close(), WELCOME_MS);
    this.#stream.on("data", ({ message }: ConnectResponse) => this.#receive(message));
    this.#write({ $case: "hello", value: { bootId, labels, slots, version, ...options.held() } });
  }

  get isOpen(): boolean {
    return this.#welcomeAt !== undefined;
  }

  send(message: Message): void {
    if (this.#stream.writableLength < QUEUED_MESSAGES) this.#write(message);
  }

  /** Says that the agent ends and holds nothing that runs; the plane ends the stream when it has heard that. */
  sayGoodbye(): void {
    this.#write({ $case: "drain", value: { goodbye: true } });
    this.#stream.end();
  }

  close(): void {
    this.#stream.cancel();
  }

  #receive(message: ConnectResponse["message"]): void {
    if (message === undefined) return; // Of a newer plane.
    // What a newer stream has renewed must not be taken for this one's.
    if (this.#isOver) return;
    switch (message.$case) {
      case "welcome":
        return this.#welcome(message.value.agentId, Number(message.value.heartbeatIntervalMs));
      case "heartbeatAck":
        return this.#acknowledged(message.value.sequence);
      default:
        return this.#options.onInstruction(message);
    }
  }

  #welcome(agentId: string, heartbeatMs: number): void {
    const { clock, onContact, onWelcome } = this.#options;
    clearTimeout(this.#welcomeTimer);
    this.#welcomeAt = clock.monotonic();
    clearInterval(this.#heartbeatTimer);
    this.#heartbeatTimer = setInterval(() => this.#beat(), Math.max(SHORTEST_HEARTBEAT_MS, heartbeatMs));
    onContact(this.#helloAt);
    onWelcome(agentId);
  }

  #beat(): void {
    const { bootId, clock, nextSequence, held } = this.#options;
    if (this.#stream.writableLength >= QUEUED_MESSAGES) return;
    const sequence = nextSequence();
    this.#sentAt.set(sequence, clock.monotonic());
    this.#write({ $case: "heartbeat", value: { bootId, sequence, ...held() } });
  }

  #acknowledged(sequence: bigint): void {
    const sentAt = this.#sentAt.get(sequence);
    if (sentAt === undefined) return;
    for (const earlier of this.#sentAt.keys()) if (earlier <= sequence) this.#sentAt.delete(earlier);
    this.#options.onContact(sentAt);
  }

  #write(message: Message): void {
    // Small, and a heartbeat must not wait for its turn to be compressed.
    this.#stream.write({ message }, UNCOMPRESSED);
  }
}
