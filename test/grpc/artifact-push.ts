/** An agent's stream of one artifact, message by message. */
import { createHash } from "node:crypto";
import type { PushArtifactRequest, PushArtifactResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import { until } from "../support/until.ts";
import { type Gateway, Stream, type TestAgent } from "./gateway.ts";

export const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

export class ArtifactPush extends Stream<PushArtifactRequest, PushArtifactResponse> {
  constructor(gateway: Gateway, agent: TestAgent) {
    super(gateway.logs().pushArtifact(agent.metadata));
  }

  begin(stepRunId: string, name: string, files: Record<string, Uint8Array>, token = 1n, changes: object = {}): void {
    const manifest = Object.entries(files).map(([path, content]) => ({
      path,
      sizeBytes: BigInt(content.length),
      sha256: sha256(content),
      executable: path.endsWith(".sh"),
      ...changes,
    }));
    this.send({ message: { $case: "begin", value: { stepRunId, token, name, files: manifest } } });
  }

  piece(offset: number, data: Uint8Array): void {
    this.send({ message: { $case: "piece", value: { offset: BigInt(offset), data: Buffer.from(data) } } });
  }

  commit(): void {
    this.send({ message: { $case: "commit", value: {} } });
  }

  /** The stored bytes that the gateway names in its answer with this number. */
  async stored(answers: number): Promise<number> {
    await until(`${answers} answers`, () => this.received.length >= answers || this.status);
    const message = this.received[answers - 1]?.message;
    return message?.$case === "storedBytes" ? Number(message.value) : Number.NaN;
  }
}
