/**
 * One Connect stream from its hello to its end. The agent sends heartbeats and reports; the gateway sends instructions.
 */
import { type ClientDuplexStream, type Metadata, status, type StatusObject } from "@grpc/grpc-js";
import type {
  AgentClient,
  ConnectRequest,
  ConnectResponse,
  HeldStepRun,
  Welcome,
} from "../../../proto/generated/agent/v1/agent.ts";
import type { Clock } from "../../domain/clock.ts";
import { UNCOMPRESSED } from "./gateway-clients.ts";

const WELCOME_MS = 10_000;
const SHORTEST_HEARTBEAT_MS = 50;
/**
 * While this many messages wait for a slow gateway, further ones are dropped. Reports that are dropped are sent again
 * later.
 */
const MAX_QUEUED_MESSAGES = 1_000;

/** The longest time that a gateway may ask an agent to stay away: more is a fault of something in between. */
const LONGEST_ABSENCE_MS = 60_000;

type Message = NonNullable<ConnectRequest["message"]>;
/** What the gateway tells an agent to do about its steps and jobs. */
export type Instruction = Exclude<NonNullable<ConnectResponse["message"]>, { $case: "welcome" | "heartbeatAck" }>;

export interface ControlStreamOptions {
  readonly client: AgentClient;
  readonly metadata: Metadata;
  readonly clock: Clock;
  readonly bootId: string;
  readonly labels: Record<string, string>;
  readonly slots: number;
  readonly version: string;
  /** Returns the next number of a heartbeat. Numbers grow by one over all streams of this boot. */
  readonly nextSequence: () => bigint;
  /**
   * What the agent holds now. `takesNoJobs` says why it takes no more jobs; it is empty if the agent does. `jobsLeft`: how
   * many it takes beyond those that it holds; undefined for any number.
   */
  readonly held: () => {
    held: HeldStepRun[];
    heldJobIds: string[];
    takesNoJobs: string;
    jobsLeft?: number | undefined;
  };
  /** The gateway has acknowledged a hello or heartbeat that was sent at `sentAt` (monotonic clock). */
  readonly onContact: (sentAt: number) => void;
  /**
   * The gateway has acknowledged this heartbeat. Before that it has refused whatever the heartbeat named and the agent no
   * longer holds.
   */
  readonly onHeartbeat: (sequence: bigint) => void;
  readonly onWelcome: (welcome: { readonly agentId: string; readonly eventNamespace: string }) => void;
  readonly onInstruction: (instruction: Instruction) => void;
}

/** How a stream ended. */
export interface ControlStreamEnd {
  readonly code: status;
  readonly details: string;
  /** Time from the welcome of the gateway to the end, milliseconds; 0 without a welcome. */
  readonly welcomeMs: number;
  /** For how long the gateway asks the agent to stay away, milliseconds; 0 when it does not. */
  readonly comeBackMs: number;
}

export class ControlStream {
  /** Resolves when the stream has ended. Never rejects. */
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

  /** Opens the stream and sends the hello. */
  constructor(options: ControlStreamOptions) {
    this.#options = options;
    const { client, metadata, clock, bootId, labels, slots, version } = options;
    this.#stream = client.connect(metadata);
    this.#helloAt = clock.monotonic();
    this.ended = new Promise((resolve) => {
      const end = (code: status, details: string, comeBackMs = 0) => {
        this.#isOver = true;
        clearTimeout(this.#welcomeTimer);
        clearInterval(this.#heartbeatTimer);
        const welcomeMs = this.#welcomeAt === undefined ? 0 : clock.monotonic() - this.#welcomeAt;
        resolve({ code, details, welcomeMs, comeBackMs });
      };
      this.#stream.on("error", (error: Error & Partial<StatusObject>) =>
        end(error.code ?? status.UNKNOWN, error.details ?? error.message, comeBackMsOf(error.metadata)),
      );
      this.#stream.on("end", () => end(status.OK, "ended by the control plane"));
    });
    this.#welcomeTimer = setTimeout(() => this.close(), WELCOME_MS);
    this.#stream.on("data", ({ message }: ConnectResponse) => this.#receive(message));
    this.#write({ $case: "hello", value: { bootId, labels, slots, version, ...options.held() } });
  }

  /** True once the gateway has welcomed the agent. */
  get isOpen(): boolean {
    return this.#welcomeAt !== undefined;
  }

  /** Sends a message, or drops it while too many wait. */
  send(message: Message): void {
    if (this.#stream.writableLength < MAX_QUEUED_MESSAGES) this.#write(message);
  }

  /** Says that the agent ends and that none of its steps is running. The gateway then ends the stream. */
  sayGoodbye(): void {
    this.#write({ $case: "drain", value: { goodbye: true } });
    this.#stream.end();
  }

  close(): void {
    this.#stream.cancel();
  }

  #receive(message: ConnectResponse["message"]): void {
    if (message === undefined) return; // A kind of message that only newer gateways know.
    // An answer on an ended stream must not renew leases: a newer stream does that now.
    if (this.#isOver) return;
    switch (message.$case) {
      case "welcome":
        return this.#welcome(message.value);
      case "heartbeatAck":
        return this.#acknowledged(message.value.sequence);
      default:
        return this.#options.onInstruction(message);
    }
  }

  #welcome({ agentId, eventNamespace, heartbeatIntervalMs }: Welcome): void {
    const { clock, onContact, onWelcome } = this.#options;
    const heartbeatMs = Number(heartbeatIntervalMs);
    clearTimeout(this.#welcomeTimer);
    this.#welcomeAt = clock.monotonic();
    clearInterval(this.#heartbeatTimer);
    this.#heartbeatTimer = setInterval(() => this.#beat(), Math.max(SHORTEST_HEARTBEAT_MS, heartbeatMs));
    onContact(this.#helloAt);
    onWelcome({ agentId, eventNamespace });
  }

  /** Sends a heartbeat now. The regular ones go on. No effect before the welcome. */
  beat(): void {
    if (this.isOpen && !this.#isOver) this.#beat();
  }

  #beat(): void {
    const { bootId, clock, nextSequence, held } = this.#options;
    if (this.#stream.writableLength >= MAX_QUEUED_MESSAGES) return;
    const sequence = nextSequence();
    this.#sentAt.set(sequence, clock.monotonic());
    this.#write({ $case: "heartbeat", value: { bootId, sequence, ...held() } });
  }

  #acknowledged(sequence: bigint): void {
    const sentAt = this.#sentAt.get(sequence);
    if (sentAt === undefined) return;
    for (const earlier of this.#sentAt.keys()) if (earlier <= sequence) this.#sentAt.delete(earlier);
    this.#options.onContact(sentAt);
    this.#options.onHeartbeat(sequence);
  }

  #write(message: Message): void {
    // Uncompressed, since messages are small and a heartbeat must not wait until others are compressed.
    this.#stream.write({ message }, UNCOMPRESSED);
  }
}

/** What the metadata of gRPC says: a whole number, or something that counts as nothing. */
function comeBackMsOf(metadata: Metadata | undefined): number {
  const text = String(metadata?.get("grpc-retry-pushback-ms")[0] ?? "");
  return /^\d{1,9}$/.test(text) ? Math.min(LONGEST_ABSENCE_MS, Number(text)) : 0;
}
