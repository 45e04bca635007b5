/** Downloads of uploads: a step gets the uploads that the trigger has given to its run. */
import type { GivenUpload } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { readBlob } from "../../app/content/content.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";
import type { HandoutContext } from "./context.ts";

/**
 * The upload that the trigger gave to the run of the step under this name. Throws `conflict` when the agent does not hold the
 * step, and `not_found` when the trigger gave none of this name or the upload was deleted since.
 */
export async function findGivenUpload(
  { stores }: HandoutContext,
  agentId: AgentId,
  { name, ...grant }: StepGrant & { readonly name: string },
): Promise<GivenUpload> {
  const { runId } = await requireHeldStep({ stores }, agentId, grant);
  const given = (await stores.aggregates.loadHead(runId))?.origin.uploads ?? [];
  const upload = given.find(([one]) => one === name)?.[1];
  if (upload === undefined) {
    const names = given.length === 0 ? "no upload" : `only ${given.map(([one]) => one).join(", ")}`;
    throw new MillraceError(
      "not_found",
      `the trigger of this run gave no upload ${JSON.stringify(name)}: it gave ${names}`,
    );
  }
  const record = await stores.uploads.find(upload.uploadId);
  if (record?.state === "stored") return upload;
  throw new MillraceError(
    "not_found",
    `upload ${upload.uploadId}, which the trigger gave as ${name}, was deleted since`,
  );
}

/**
 * The bytes of an upload from `offset` on. Throws `not_found` when the content is gone, and `range_not_satisfiable` for an
 * offset beyond its end.
 */
export function readGivenUpload(
  { stores }: HandoutContext,
  { uploadId, name, size }: GivenUpload,
  offset: number,
): AsyncGenerator<Uint8Array, void, void> {
  if (offset > size) {
    throw new MillraceError("range_not_satisfiable", `upload ${uploadId} has ${size} bytes, not ${offset}`);
  }
  return readBlob(stores.blobs, { blobId: uploadId, what: `upload ${JSON.stringify(name)}` }, offset, size - offset);
}
