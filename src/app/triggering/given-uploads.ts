/** The uploads that a trigger gives to its run: checked before the run is planned, and kept for as long as the run. */
import { z } from "zod";
import { type GivenUpload, MAX_GIVEN_UPLOADS } from "../../domain/artifacts.ts";
import { MillraceError, type Problem } from "../../domain/errors.ts";
import { asId, type ProjectId, type RunId, type UploadId } from "../../domain/ids.ts";
import { toPointer } from "../../domain/json-pointer.ts";
import type { Pairs } from "../../domain/pairs.ts";
import { VARIABLE_NAME } from "../../domain/names.ts";
import type { UploadRecord } from "../../stores/ports/uploads.ts";
import type { TriggeringContext } from "./context.ts";

const NAME_RULE = "must begin with a letter or `_`, followed by at most 127 letters, digits or `_`";

/** Ids of uploads by the names under which steps read them. */
export const uploadsField = z
  .record(z.string().regex(VARIABLE_NAME, NAME_RULE), z.string().max(200))
  .refine((given) => Object.keys(given).length <= MAX_GIVEN_UPLOADS, `must have at most ${MAX_GIVEN_UPLOADS} uploads`);

type UploadContext = Pick<TriggeringContext, "clock" | "stores" | "uploadRules">;

/** Throws `malformed_request` with every upload that is not in the project, or not complete. */
export async function findGivenUploads(
  { stores }: UploadContext,
  projectId: ProjectId,
  given: z.output<typeof uploadsField> = {},
): Promise<Pairs<GivenUpload>> {
  const found = await Promise.all(
    Object.entries(given).map(async ([name, uploadId]) => {
      const upload = await stores.uploads.find(asId<UploadId>(uploadId));
      return { name, uploadId, upload: upload?.projectId === projectId ? upload : undefined };
    }),
  );
  const problems = found.flatMap(({ name, uploadId, upload }): Problem[] => {
    const fault = faultOf(upload);
    if (fault === undefined) return [];
    return [{ ...fault, pointer: toPointer(["uploads", name]), message: `${uploadId} ${fault.message}` }];
  });
  if (problems.length > 0) {
    const text = problems.map(({ message }) => message).join("; ");
    throw new MillraceError("malformed_request", `the uploads cannot be given to the run: ${text}`, { problems });
  }
  return found.map(({ name, upload }) => {
    const { uploadId, name: file, sizeBytes: size, sha256 } = upload!;
    return [name, { uploadId, name: file, size, sha256 }];
  });
}

/** Those of the uploads that can be fetched no more, by their names. */
export async function goneUploads(
  { stores }: Pick<UploadContext, "stores">,
  projectId: ProjectId,
  uploads: Pairs<GivenUpload>,
): Promise<Pairs<GivenUpload>> {
  const found = await Promise.all(uploads.map(([, { uploadId }]) => stores.uploads.find(uploadId)));
  return uploads.filter((_, at) => found[at]?.projectId !== projectId || faultOf(found[at]) !== undefined);
}

function faultOf(upload: UploadRecord | undefined): Pick<Problem, "code" | "message"> | undefined {
  if (upload === undefined || upload.state === "deleting") {
    return { code: "not_found", message: "is no upload of the project: it may have expired" };
  }
  if (upload.state === "stored") return undefined;
  return { code: "incomplete", message: "is not complete: send the rest first" };
}

/**
 * Keeps the uploads for as long as the run. Answers the names of those that are gone. To be called before the run is stored,
 * so that the pruner leaves no run without its uploads.
 */
export async function keepGivenUploads(
  { stores, clock, uploadRules }: UploadContext,
  { runId, projectId, uploads }: { runId: RunId; projectId: ProjectId; uploads: Pairs<GivenUpload> | undefined },
): Promise<readonly string[]> {
  const now = clock.now();
  const gone = await Promise.all(
    (uploads ?? []).map(async ([name, { uploadId }]) => {
      const use = { runId, at: now };
      const isKept = await stores.uploads.use({ uploadId, projectId }, use, now + uploadRules.retentionMs);
      return isKept ? [] : [name];
    }),
  );
  return gone.flat();
}
