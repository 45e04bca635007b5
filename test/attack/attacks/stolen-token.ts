import { type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { setTimeout as pause } from "node:timers/promises";
import { AgentClient, type ConnectRequest, type ConnectResponse } from "../../../proto/generated/agent/v1/agent.ts";
import type { Attack } from "../attack.ts";

const AT_ONCE = 8;
const BEAT_MS = 1_000;
const HOLDINGS = { held: [], heldJobIds: [], takesNoJobs: "" };

type Stream = ClientDuplexStream<ConnectRequest, ConnectResponse>;

export const attack: Attack = {
  name: "stolen-token",
  title: "greets with the token of an agent that is connected, as other boots and with other labels, eight at a time",
  as: "agent",
  async run(target, signal) {
    const client = new AgentClient(target.gateway, credentials.createInsecure());
    const request = { name: "robbed", labels: { pool: "build" }, slots: 1, version: "1" };
    const token = await new Promise<Metadata>((resolve, reject) => {
      client.register(request, bearer(target.registrationToken), (error, answer) =>
        error === null ? resolve(bearer(answer.agentToken)) : reject(error),
      );
    });
    const greet = (bootId: string, pool: string): Stream => {
      const stream = client.connect(token);
      const hello = { bootId, labels: { pool }, slots: 1, version: "1", ...HOLDINGS };
      stream.on("error", () => {});
      stream.write({ message: { $case: "hello", value: hello } });
      return stream;
    };
    const real = greet("the real one", "build");
    real.on("data", () => {});
    real.on("error", (error: ServiceError) => target.count(`THE REAL AGENT IS DISPLACED: ${status[error.code]}`));
    const beats = (async () => {
      for (let sequence = 1n; !signal.aborted; sequence++) {
        real.write({ message: { $case: "heartbeat", value: { bootId: "the real one", sequence, ...HOLDINGS } } });
        await pause(BEAT_MS);
      }
    })();
    await pause(BEAT_MS);
    const over = new Promise<string>((resolve) =>
      signal.addEventListener("abort", () => resolve("second hello: unanswered"), { once: true }),
    );
    const attackOn = async (index: number) => {
      for (let boot = 0; !signal.aborted; boot++) {
        const stream = greet(`thief ${index}.${boot}`, "production");
        const answered = new Promise<string>((resolve) => {
          stream.on("data", () => resolve("A SECOND HELLO IS WELCOME"));
          stream.on("error", ({ code }: ServiceError) => resolve(`second hello: ${status[code]}`));
        });
        target.count(await Promise.race([answered, over]));
        stream.cancel();
        const beat = { bootId: `thief ${index}.${boot}`, sequence: 1n, ...HOLDINGS };
        const pulled = await new Promise<string>((resolve) =>
          client.heartbeat(beat, token, (error) => resolve(error === null ? "TAKEN" : status[error.code]!)),
        );
        target.count(`first heartbeat of another boot: ${pulled}`);
      }
    };
    await Promise.all([beats, ...Array.from({ length: AT_ONCE }, (_, index) => attackOn(index))]);
  },
};

function bearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}
