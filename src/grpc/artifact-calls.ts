/** gateway.v1, artifacts: agents send the content of artifacts to the store, and fetch it for later steps. */
import { z } from "zod";
import type {
  BeginArtifact,
  GatewayServer,
  PullArtifactRequest,
  PullArtifactResponse,
  PushArtifactRequest,
  PushArtifactResponse,
} from "../../proto/generated/gateway/v1/gateway.ts";
import { callingAgent } from "../gateway/registration.ts";
import { findKeptArtifact } from "../gateway/handout/artifact-handout.ts";
import { ArtifactIngest } from "../gateway/ingest/artifact-ingest.ts";
import type { AppContext } from "../app/context.ts";
import { readContent } from "../app/content/run-artifacts.ts";
import type { ArtifactFile } from "../domain/artifacts.ts";
import { MillraceError } from "../domain/errors.ts";
import { asId, type StepRunId } from "../domain/ids.ts";
import { PLAIN_TEXT, PLAIN_TEXT_RULE } from "../domain/names.ts";
import { type Duplex, duplex, type StreamContext } from "./calls.ts";
import { unexpectedMessage, receiveContent } from "./content-calls.ts";
import { parseMessage } from "./messages/parse-message.ts";

/** The fields by which an agent names a step that it holds. */
export const stepGrant = {
  stepRunId: z
    .string()
    .min(1)
    .max(128)
    .transform(asId<StepRunId>),
  token: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
};
const artifactName = z.string().min(1).max(1_000).regex(PLAIN_TEXT, PLAIN_TEXT_RULE);
const beginArtifact = z.object({
  ...stepGrant,
  name: artifactName,
  // `ArtifactIngest` checks paths, counts and hashes.
  files: z.array(
    z.object({
      path: z.string(),
      sizeBytes: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)).transform(Number),
      sha256: z.string(),
      executable: z.boolean(),
    }),
  ),
});
const findArtifact = z.object({ ...stepGrant, name: artifactName, job: z.string().max(1_000) });
const takeFiles = z.object({
  files: z.array(z.int().nonnegative()),
  offset: z.bigint().nonnegative().transform(Number),
});

export function artifactCalls(context: StreamContext): Pick<GatewayServer, "pushArtifact" | "pullArtifact"> {
  return {
    pushArtifact: duplex(context, (call) => pushArtifact(context, call)),
    pullArtifact: duplex(context, (call) => pullArtifact(context, call)),
  };
}

async function pushArtifact(
  context: AppContext,
  call: Duplex<PushArtifactRequest, PushArtifactResponse>,
): Promise<void> {
  const agentId = callingAgent(call.caller);
  const begin = (value: BeginArtifact) => ArtifactIngest.begin(context, agentId, parseMessage(beginArtifact, value));
  const artifactId = await receiveContent(call, begin);
  if (artifactId !== undefined) await call.write({ message: { $case: "artifactId", value: artifactId } });
}

async function pullArtifact(
  context: AppContext,
  { caller, requests, write }: Duplex<PullArtifactRequest, PullArtifactResponse>,
): Promise<void> {
  const agentId = callingAgent(caller);
  const find = (await requests.next()).value?.message;
  if (find?.$case !== "find") throw unexpectedMessage("find, take");
  const artifact = await findKeptArtifact(context, agentId, parseMessage(findArtifact, find.value));
  const files = artifact.files.map((file) => ({ ...file, sizeBytes: BigInt(file.sizeBytes) }));
  await write({ message: { $case: "found", value: { artifactId: artifact.artifactId, files } } });
  const take = (await requests.next()).value?.message;
  if (take === undefined) return;
  if (take.$case !== "take") throw unexpectedMessage("find, take");
  for (const { from, length } of rangesOf(artifact.files, parseMessage(takeFiles, take.value))) {
    for await (const piece of readContent(context, artifact, from, length)) {
      await write({ message: { $case: "data", value: Buffer.from(piece.buffer, piece.byteOffset, piece.length) } });
    }
  }
}

interface Range {
  readonly from: number;
  readonly length: number;
}

/**
 * The ranges of the content that hold the requested files. Files that follow each other in the content share one range,
 * since many small files would make many small reads. Throws `malformed_request` for files that are not in ascending order.
 */
function rangesOf(files: readonly ArtifactFile[], requested: z.output<typeof takeFiles>): readonly Range[] {
  const ranges: Range[] = [];
  let offset = 0;
  let before = -1;
  const starts = files.map(({ sizeBytes }) => (offset += sizeBytes) - sizeBytes);
  for (const [at, index] of requested.files.entries()) {
    const file = files[index];
    const skipped = at === 0 ? requested.offset : 0;
    if (file === undefined || index <= before || skipped > file.sizeBytes) {
      throw new MillraceError(
        "malformed_request",
        `file ${index} from byte ${skipped} cannot be sent: name existing files in ascending order`,
      );
    }
    const last = ranges.at(-1);
    if (last !== undefined && index === before + 1)
      ranges[ranges.length - 1] = { ...last, length: last.length + file.sizeBytes };
    else ranges.push({ from: starts[index]! + skipped, length: file.sizeBytes - skipped });
    before = index;
  }
  return ranges;
}
