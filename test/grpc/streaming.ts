/** Callers of stream.v1 in tests: users with a role, and the messages of their streams. */
import { type ClientReadableStream, credentials, type Metadata, type StatusObject } from "@grpc/grpc-js";
import { StreamClient } from "../../proto/generated/stream/v1/stream.ts";
import type { AppContext } from "../../src/app/context.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Role } from "../../src/domain/roles.ts";
import { until } from "../support/until.ts";
import { bearer } from "./gateway.ts";

export type StreamOperation =
  | "streamStepRunStatus"
  | "streamJobStatus"
  | "streamPipelineStatus"
  | "streamAgentStatus"
  | "streamEvents"
  | "streamRuns";
type RequestOf<O extends StreamOperation> = Parameters<StreamClient[O]>[0];
type ResponseOf<O extends StreamOperation> =
  ReturnType<StreamClient[O]> extends ClientReadableStream<infer Response> ? Response : never;

/** A stream with the messages that it has received. */
export class Reader<Response> {
  readonly received: Response[] = [];
  status: StatusObject | undefined;
  readonly #call: ClientReadableStream<Response>;

  constructor(call: ClientReadableStream<Response>) {
    this.#call = call;
    call.on("data", (message: Response) => this.received.push(message));
    call.on("error", () => {});
    let status: StatusObject | undefined;
    call.on("status", (last: StatusObject) => (status = last));
    // The status arrives before messages that a paused reader has not read.
    call.on("end", () => (this.status = status));
  }

  /** Waits for this number of messages. */
  async count(count: number, deadlineMs?: number): Promise<readonly Response[]> {
    await until(`${count} messages`, () => this.received.length >= count, deadlineMs);
    return this.received;
  }

  ended(deadlineMs?: number): Promise<StatusObject> {
    return until("the end of the stream", () => this.status, deadlineMs);
  }

  cancel(): void {
    this.#call.cancel();
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }
}

export class StreamCaller {
  readonly client: StreamClient;
  readonly metadata: Metadata;

  constructor(port: number, token: string) {
    // Each stream has a connection of its own, because the open calls of a connection are bounded.
    const options = { "grpc.use_local_subchannel_pool": 1 };
    this.client = new StreamClient(`127.0.0.1:${port}`, credentials.createInsecure(), options);
    this.metadata = bearer(token);
  }

  /** A new user of that role. */
  static async withRole(context: AppContext, port: number, role: Role): Promise<StreamCaller> {
    const userId = newId("usr");
    const user = { userId, name: `${role}-${userId}`, role, passwordHash: "", createdAt: 0, disabled: false };
    await context.stores.identity.createUser(user);
    return new StreamCaller(port, await issueToken(context, { kind: "personal", subject: userId, name: "test" }));
  }

  read<O extends StreamOperation>(operation: O, request: RequestOf<O>): Reader<ResponseOf<O>> {
    const method = this.client[operation].bind(this.client) as unknown as (
      request: RequestOf<O>,
      metadata: Metadata,
    ) => ClientReadableStream<ResponseOf<O>>;
    return new Reader(method(request, this.metadata));
  }

  /** All messages of a stream until it ends. */
  async all<O extends StreamOperation>(operation: O, request: RequestOf<O>): Promise<readonly ResponseOf<O>[]> {
    const reader = this.read(operation, request);
    const { code, details } = await reader.ended();
    if (code !== 0) throw new Error(`the stream has ended with ${code}: ${details}`);
    return reader.received;
  }

  close(): void {
    this.client.close();
  }
}
