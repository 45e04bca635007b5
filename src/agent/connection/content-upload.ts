/** Content on its way to the plane in pieces: from where the plane says on, so that a repeat of what is stored changes nothing. */
import type { ArtifactPiece, CommitArtifact } from "../../../proto/generated/gateway/v1/gateway.ts";
import type { Attempt } from "./gateway-call.ts";

/** Pieces on their way at a time: what is in memory of one upload is bounded by them. */
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

/** `piecesFrom` gives the content from a byte on, in whole pieces. Rejects as `attempt` does. */
export async function sendContent<Begin>(
  { write, next, onProgress }: Attempt<ContentRequest<Begin>, ContentResponse>,
  begin: Begin,
  piecesFrom: (offset: number) => AsyncIterable<Buffer>,
): Promise<void> {
  const answered = async (): Promise<NonNullable<ContentResponse["message"]>> => {
    const { message } = await next();
    if (message === undefined) throw new Error("the control plane answers what this agent does not know");
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
