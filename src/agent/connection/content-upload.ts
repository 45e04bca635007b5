/**
 * Uploads content to the control plane in pieces, starting at the offset that the control plane reports. So a repeated
 * upload does not send again what is stored.
 */
import type { ArtifactPiece, CommitArtifact } from "../../../proto/generated/gateway/v1/gateway.ts";
import type { Attempt } from "./gateway-call.ts";

/** Upper bound on the pieces that are sent and not answered. It also bounds the memory of one upload. */
const PIECES_IN_FLIGHT = 8;

interface ContentRequest<Begin> {
  message:
    | { $case: "begin"; value: Begin }
    | { $case: "piece"; value: ArtifactPiece }
    | { $case: "commit"; value: CommitArtifact }
    | undefined;
}

interface ContentResponse {
  message?: { $case: "storedBytes"; value: bigint } | { $case: string; value: unknown } | undefined;
}

/**
 * Sends the content in one attempt of a call. `begin` describes the content, and `piecesFrom` yields it from a byte
 * offset on, in whole pieces. Rejects as the methods of the attempt do.
 */
export async function sendContent<Begin>(
  { write, next, onProgress }: Attempt<ContentRequest<Begin>, ContentResponse>,
  begin: Begin,
  piecesFrom: (offset: number) => AsyncIterable<Buffer>,
): Promise<void> {
  const answered = async (): Promise<NonNullable<ContentResponse["message"]>> => {
    const { message } = await next();
    if (message === undefined) throw new Error("the control plane sent an answer that this agent does not know");
    onProgress();
    return message;
  };
  write({ message: { $case: "begin", value: begin } });
  const begun = await answered();
  let offset = begun.$case === "storedBytes" ? Number(begun.value) : 0;
  let inFlight = 0;
  for await (const data of piecesFrom(offset)) {
    write({ message: { $case: "piece", value: { offset: BigInt(offset), data } } });
    offset += data.length;
    if (++inFlight < PIECES_IN_FLIGHT) continue;
    await answered();
    inFlight--;
  }
  for (; inFlight > 0; inFlight--) await answered();
  write({ message: { $case: "commit", value: {} } });
  await answered();
}
