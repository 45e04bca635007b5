/** The uploads of a project: files that users send, in one call or in several, for runs to read. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type ProjectId, type UploadId } from "../../domain/ids.ts";
import { ANY_TYPE, isFileName, MAX_UPLOADS } from "../../domain/artifacts.ts";
import type { UploadRecord } from "../../stores/ports/uploads.ts";
import { isArchived } from "../../stores/ports/pipelines.ts";
import type { Caller, UserCaller } from "../identity/access.ts";
import { afterField, cursorOf, listFields } from "../lists.ts";
import { reach, type Reached, reachProject } from "../reaching.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { readBlob } from "./content.ts";
import { directLink } from "./direct-link.ts";
import type { ContentContext } from "./context.ts";
import { storedBytesOf, UploadIngest } from "./upload-ingest.ts";
import { deleteUploadNow } from "./upload-pruner.ts";

export const fileName = z
  .string()
  .refine(isFileName, "must be the name of one file: no path, at most 255 bytes, no control characters");
export const mediaType = z
  .string()
  .max(255)
  .regex(/^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/, "must be a media type such as text/plain");

export const createUploadBody = z.strictObject({
  name: fileName,
  /** Bytes. */
  size: z.number().int().min(0),
  type: mediaType.default(ANY_TYPE),
  /** The digest that the content must have. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hexadecimal")
    .optional(),
});
export const listUploadsQuery = z.strictObject({ pageSize: listFields.pageSize, after: afterField.optional() });

const uploadFields = () => ({
  uploadId: id<UploadId>(),
  projectId: id<ProjectId>(),
  name: z.string(),
  status: z.enum(["uploading", "stored"]),
  /** Bytes: what was announced, and of a stored upload what there is. */
  size: wholeNumber,
  /** Of a stored upload that of its content; else what was announced, null for nothing. */
  sha256: z.string().nullable(),
  /** What its sender declared. */
  type: z.string(),
  /** What the content was recognised as; null for nothing, and while it is not complete. */
  sniffedType: z.string().nullable(),
  /** False when the content is not of the declared type; null while it is not complete. */
  typeMatches: z.boolean().nullable(),
  createdBy: z.string(),
  createdAt: time,
  /** From then on it may be deleted, unless a kept run uses it. */
  expiresAt: time,
});
export const UploadShape = shape("Upload", uploadFields);
/** `offset`: from where the content continues. */
export const UploadProgressShape = shape("UploadProgress", () => ({ ...uploadFields(), offset: wholeNumber }));
export const UploadPageShape = fields(() => ({
  list: listOf(UploadShape),
  total: wholeNumber,
  next: z.string().nullable(),
}));

export type UploadProgress = z.infer<typeof UploadProgressShape>;

interface UploadKey {
  readonly projectId: ProjectId;
  readonly uploadId: UploadId;
}

/**
 * Begins an upload whose content follows in any number of calls. Throws `not_found` for an unknown project, `conflict` for
 * an archived one, `too_large` beyond the bounds of an upload and of the project.
 */
export async function createUpload(
  context: ContentContext,
  caller: Caller,
  request: z.output<typeof createUploadBody> & { readonly projectId: ProjectId } & WithRequestId,
): Promise<UploadProgress> {
  const { projectId, requestId, name, size, type, sha256 = "" } = request;
  const user = await reachForUpload(context, caller, projectId);
  return createOnce(context, {
    caller: user,
    scope: `upload/${projectId}`,
    requestId,
    body: { name, size, type, sha256 },
    freshId: () => newId("upl"),
    find: async (uploadId) => {
      const found = await context.stores.uploads.find(uploadId);
      return found && progressOf(context, found);
    },
    create: async (uploadId) => {
      const upload = await begin(context, user, { uploadId, projectId, name, type, sha256, sizeBytes: size }, user);
      return { ...uploadView(upload), offset: 0 };
    },
  });
}

/** A file that comes in one call. */
export interface WholeFile {
  readonly name: string;
  readonly type: string;
  /** A bound on the size, bytes, when one is known. */
  readonly atMost: number | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Stores a file that comes in one call; when the call is cut off, nothing of it stays. `open` begins to read the body, and
 * is called when the caller may send it. A repeat must have the same content. Throws what {@link createUpload} throws, and
 * `payload_too_large`.
 */
export async function uploadFile(
  context: ContentContext,
  caller: Caller,
  request: { readonly projectId: ProjectId; readonly open: () => Promise<WholeFile> } & WithRequestId,
): Promise<UploadProgress> {
  const { projectId, requestId, open } = request;
  const user = await reachForUpload(context, caller, projectId);
  const file = await open();
  return createOnce(context, {
    caller: user,
    scope: `uploadFile/${projectId}`,
    requestId,
    body: { name: file.name, type: file.type },
    freshId: () => newId("upl"),
    async find(uploadId) {
      const found = await context.stores.uploads.find(uploadId);
      if (found?.state !== "stored") return undefined;
      await requireSame(found, file.content);
      return progressOf(context, found);
    },
    create: (uploadId) => storeFile(context, user, { projectId, uploadId }, file),
  });
}

async function storeFile(
  context: ContentContext,
  user: UserCaller,
  key: UploadKey,
  { name, type, atMost, content }: WholeFile,
): Promise<UploadProgress> {
  const { maxBytes } = context.uploadRules;
  const sizeBytes = Math.min(atMost ?? maxBytes, maxBytes);
  // The upload is recorded when it is complete: of one that is cut off nothing stays.
  const upload = await begin(context, user, { ...key, name, type, sha256: "", sizeBytes }, {});
  try {
    const ingest = UploadIngest.whole(context, upload, maxBytes);
    for await (const bytes of content) await ingest.append(bytes);
    const stored = (await ingest.end((after, store) =>
      recorded(user, { ...objectOf(after), after: uploadView(after) }, store),
    ))!;
    return { ...uploadView(stored), offset: stored.sizeBytes };
  } catch (error) {
    // What remains when this fails, too, is deleted as any upload that no user completes.
    await deleteUploadNow(context.stores, key.uploadId).catch(() => {});
    throw error;
  }
}

/** Throws `request_id_reused` when the content is not that of the upload. */
async function requireSame({ sha256 }: UploadRecord, content: AsyncIterable<Uint8Array>): Promise<void> {
  const hash = createHash("sha256");
  for await (const bytes of content) hash.update(bytes);
  if (hash.digest("hex") === sha256) return;
  const text = "the key was used with another file: choose a new one for a new upload";
  throw new MillraceError("request_id_reused", text);
}

/**
 * Adds content at `offset`, and completes the upload when all of it is there. Throws `not_found`; `conflict` when the upload
 * does not continue at `offset`, is complete, is taken over by another call, or has other content than announced;
 * `payload_too_large`. What came as whole pieces is stored, also when the call is cut off.
 */
export async function appendToUpload(
  context: ContentContext,
  caller: Caller,
  request: UploadKey & {
    /** Where the part begins; it is asked for when the caller may send it. */
    readonly offset: () => number;
    /** Bytes that follow, when this is known. */
    readonly length: number | undefined;
    readonly content: () => AsyncIterable<Uint8Array>;
  },
): Promise<UploadProgress> {
  const { user, found: upload } = await reachUpload(context, caller, "writeUploads", request);
  const { length = 0 } = request;
  const offset = request.offset();
  if (offset + length > upload.sizeBytes) {
    const text = `${length} bytes at ${offset} are more than the ${upload.sizeBytes} that were announced`;
    throw new MillraceError("payload_too_large", text);
  }
  const ingest = await UploadIngest.resume(context, upload);
  if (offset !== ingest.storedBytes) {
    throw new MillraceError("conflict", `the upload continues at ${ingest.storedBytes}, not at ${offset}`);
  }
  try {
    for await (const bytes of request.content()) await ingest.append(bytes);
  } catch (error) {
    // The caller hears why the call ended, and finds what is stored when it asks.
    await ingest.flush().catch(() => {});
    throw error;
  }
  const stored = await ingest.end((complete, store) => {
    const before = { ...uploadView(upload), offset };
    return recorded(
      user,
      { ...objectOf(upload), before, after: { ...uploadView(complete), offset: complete.sizeBytes } },
      store,
    );
  });
  if (stored === undefined) await ingest.flush();
  const { storedBytes } = ingest;
  // Of a part that is not the last, no single change of the store could take the entry with it.
  if (storedBytes === offset) user.trail?.changedNothing();
  else user.trail?.names({ ...objectOf(upload), before: { offset }, after: { offset: storedBytes } });
  return { ...uploadView(stored ?? upload), offset: ingest.storedBytes };
}

/** The uploads of a project, the newest first. Throws `not_found`. */
export async function listUploads(
  context: ContentContext,
  caller: Caller,
  { projectId, pageSize, after }: z.output<typeof listUploadsQuery> & { readonly projectId: ProjectId },
): Promise<z.infer<typeof UploadPageShape>> {
  await reachProject(context, caller, "readUploads", projectId);
  const { list, total } = await context.stores.uploads.list(projectId, pageSize, after);
  const last = list.length === pageSize ? list.at(-1) : undefined;
  const next = last === undefined ? null : cursorOf({ at: last.createdAt, id: last.uploadId });
  return { list: list.map(uploadView), total, next };
}

/** Throws `not_found`. */
export async function getUpload(context: ContentContext, caller: Caller, key: UploadKey): Promise<UploadProgress> {
  return progressOf(context, (await reachUpload(context, caller, "readUploads", key)).found);
}

/** Opens the content. Throws `not_found`, and `conflict` while the content is not complete. */
export async function openUpload(context: ContentContext, caller: Caller, key: UploadKey) {
  const { found: upload } = await reachUpload(context, caller, "readUploads", key);
  const { uploadId, name, sizeBytes, sha256, state } = upload;
  if (state !== "stored")
    throw new MillraceError("conflict", `upload ${uploadId} is not complete: send the rest first`);
  const content = { blobId: uploadId, what: `upload ${JSON.stringify(name)}` };
  const read = (from: number, length: number) => readBlob(context.stores.blobs, content, from, length);
  // Content that is gone is an error before the first byte is sent: later the answer could only break off.
  await read(0, Math.min(1, sizeBytes)).next();
  return { file: { path: name, sizeBytes, sha256 }, read, link: directLink(context, uploadId, name) };
}

/** Deletes an upload with its content, also when runs use it: their steps then cannot fetch it. Throws `not_found`. */
export async function deleteUpload(context: ContentContext, caller: Caller, key: UploadKey): Promise<void> {
  const { user, found } = await reachUpload(context, caller, "deleteUploads", key);
  await recorded(user, { ...objectOf(found), before: uploadView(found) }, () =>
    deleteUploadNow(context.stores, key.uploadId),
  );
  context.log.info({ ...key, upload: found.name, by: user.name }, "an upload is deleted");
}

async function reachForUpload(context: ContentContext, caller: Caller, projectId: ProjectId): Promise<UserCaller> {
  const { user, found: project } = await reachProject(context, caller, "writeUploads", projectId);
  if (isArchived(project)) {
    throw new MillraceError("conflict", `the project ${JSON.stringify(projectId)} is archived: it takes no uploads`);
  }
  return user;
}

/** `by`: on whose trail the beginning is recorded. */
async function begin(
  { stores, clock, log, uploadRules }: ContentContext,
  user: UserCaller,
  given: Pick<UploadRecord, "uploadId" | "projectId" | "name" | "type" | "sha256" | "sizeBytes">,
  by: Pick<UserCaller, "trail">,
): Promise<UploadRecord> {
  const { maxBytes, maxProjectBytes, unfinishedMs } = uploadRules;
  const { projectId, uploadId, name, sizeBytes } = given;
  if (sizeBytes > maxBytes) throw tooLarge(`an upload may have ${maxBytes} bytes; this one has ${sizeBytes}`);
  const now = clock.now();
  const upload: UploadRecord = {
    ...given,
    state: "uploading",
    sniffedType: null,
    typeMatches: true,
    createdBy: user.name,
    createdAt: now,
    usedAt: now,
    expiresAt: now + unfinishedMs,
    writer: uploadId,
  };
  const refuseBeyond = async (added: { bytes: number; count: number }): Promise<void> => {
    const { bytes, count } = await stores.uploads.amountOf(projectId);
    if (bytes + added.bytes <= maxProjectBytes && count + added.count <= MAX_UPLOADS) return;
    throw tooLarge(
      `the uploads of a project may have ${maxProjectBytes} bytes in at most ${MAX_UPLOADS} files: delete some of project ${projectId}`,
    );
  };
  // What is refused here has changed nothing, so that nothing is recorded.
  await refuseBeyond({ bytes: sizeBytes, count: 1 });
  await recorded(by, { ...objectOf(upload), after: uploadView(upload) }, () => stores.uploads.begin(upload));
  try {
    // Counted with the new record: of two calls at the same time, at least the later one sees both.
    await refuseBeyond({ bytes: 0, count: 0 });
  } catch (error) {
    await deleteUploadNow(stores, uploadId);
    throw error;
  }
  log.info({ uploadId, projectId, upload: name, sizeBytes, by: user.name }, "an upload was begun");
  return upload;
}

/** The upload as the audit log names it. */
function objectOf({ uploadId, name }: Pick<UploadRecord, "uploadId" | "name">) {
  return { kind: "upload", id: uploadId, name } as const;
}

function reachUpload(
  context: ContentContext,
  caller: Caller,
  operation: "readUploads" | "writeUploads" | "deleteUploads",
  { projectId, uploadId }: UploadKey,
): Promise<Reached<UploadRecord>> {
  const missing = () => noUpload(projectId, uploadId);
  return reach(context, caller, operation, {
    find: async () => {
      const found = await context.stores.uploads.find(uploadId);
      if (found === undefined || found.projectId !== projectId || found.state === "deleting") throw missing();
      return found;
    },
    projectOf: () => projectId,
    missing,
  });
}

async function progressOf(context: ContentContext, upload: UploadRecord): Promise<UploadProgress> {
  return { ...uploadView(upload), offset: await storedBytesOf(context, upload) };
}

function uploadView({ state, sizeBytes, sha256, typeMatches, ...upload }: UploadRecord): z.infer<typeof UploadShape> {
  const { uploadId, projectId, name, type, sniffedType, createdBy, createdAt, expiresAt } = upload;
  return {
    uploadId,
    projectId,
    name,
    status: state === "stored" ? "stored" : "uploading",
    size: sizeBytes,
    sha256: sha256 === "" ? null : sha256,
    type,
    sniffedType,
    typeMatches: state === "stored" ? typeMatches : null,
    createdBy,
    createdAt: rfc3339(createdAt),
    expiresAt: rfc3339(expiresAt),
  };
}

/** The refusal of an upload that is missing, or of another project. */
export function noUpload(projectId: ProjectId, uploadId: string): MillraceError {
  return new MillraceError(
    "not_found",
    `project ${projectId} has no upload ${JSON.stringify(uploadId)}: it may have expired`,
  );
}

function tooLarge(text: string): MillraceError {
  return new MillraceError("too_large", text);
}
