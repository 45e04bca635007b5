/** Routes of the uploads of a project: sent as a form in one call, or in parts that resume after a break. */
import type { AppContext } from "../../app/context.ts";
import {
  appendToUpload,
  createUpload,
  createUploadBody,
  deleteUpload,
  fileName,
  getUpload,
  listUploads,
  listUploadsQuery,
  mediaType,
  openUpload,
  uploadFile,
  UploadPageShape,
  type UploadProgress,
  UploadProgressShape,
  type WholeFile,
} from "../../app/content/uploads.ts";
import { MillraceError } from "../../domain/errors.ts";
import { ANY_TYPE } from "../../domain/artifacts.ts";
import { CONTENT_STATUSES, CONTENT_TYPE, sendContent } from "../content-answer.ts";
import { openFormFile, readLongBody } from "../request/long-body.ts";
import type { RouteContext } from "../request/state.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Uploads");
const UPLOADS = "/projects/:projectId/uploads";
const FORM_TYPE = "multipart/form-data";
/** The media type of a part of a resumable upload in tus, https://tus.io/protocols/resumable-upload */
const PART_TYPE = "application/offset+octet-stream";

export const UPLOAD_ROUTES = [
  route({
    method: "POST",
    path: UPLOADS,
    name: "createUpload",
    about: "Begins an upload whose content follows in parts.",
    body: createUploadBody,
    answer: UploadProgressShape,
    errors: ["not_found", "conflict", "too_large", "request_id_reused"],
    creates: true,
    handle: async (context, { caller, params, body, requestId, ctx }) =>
      withOffset(ctx, await createUpload(context, caller, { ...params, ...body, requestId })),
  }),
  route({
    method: "POST",
    path: `${UPLOADS}/form`,
    name: "uploadFile",
    about: "Stores the one file of a form as an upload.",
    bodyType: FORM_TYPE,
    answer: UploadProgressShape,
    errors: ["not_found", "conflict", "too_large", "request_id_reused"],
    creates: true,
    handle: (context, { caller, params, requestId, ctx }) =>
      uploadFile(context, caller, { ...params, requestId, open: () => readForm(ctx) }),
  }),
  route({
    method: "GET",
    path: UPLOADS,
    name: "listUploads",
    about: "Lists the uploads of a project, the newest first.",
    query: listUploadsQuery,
    answer: UploadPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listUploads(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: `${UPLOADS}/:uploadId`,
    name: "getUpload",
    about: "Describes an upload, with the offset from which its content continues.",
    answer: UploadProgressShape,
    errors: ["not_found"],
    handle: async (context, { caller, params, ctx }) => withOffset(ctx, await getUpload(context, caller, params)),
  }),
  route({
    method: "PATCH",
    path: `${UPLOADS}/:uploadId/content`,
    name: "appendToUpload",
    about: "Adds a part at the offset of the header `Upload-Offset`, and completes the upload with the last part.",
    bodyType: PART_TYPE,
    answer: UploadProgressShape,
    errors: ["not_found", "conflict"],
    async handle(context, { caller, params, ctx }) {
      const length = lengthOf(ctx);
      const request = { ...params, offset: () => offsetOf(ctx), length, content: () => readLongBody(ctx, PART_TYPE) };
      return withOffset(ctx, await appendToUpload(context, caller, request));
    },
  }),
  route({
    method: "GET",
    path: `${UPLOADS}/:uploadId/content`,
    name: "readUpload",
    about: "Reads the content of an upload, or a range of its bytes.",
    acceptsTicket: true,
    answer: null,
    answerType: CONTENT_TYPE,
    statuses: CONTENT_STATUSES,
    errors: ["not_found", "conflict", "range_not_satisfiable"],
    async send(context, { caller, params, ctx }) {
      await sendContent(ctx, await openUpload(context, caller, params));
    },
  }),
  route({
    method: "DELETE",
    path: `${UPLOADS}/:uploadId`,
    name: "deleteUpload",
    about: "Deletes an upload with its content.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deleteUpload(context, caller, params),
  }),
];

function withOffset(ctx: RouteContext, upload: UploadProgress): UploadProgress {
  ctx.set("Upload-Offset", `${upload.offset}`);
  ctx.set("Upload-Length", `${upload.size}`);
  return upload;
}

function offsetOf(ctx: RouteContext): number {
  const text = ctx.get("upload-offset");
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new MillraceError("malformed_request", "the header Upload-Offset must name the byte at which the part begins");
}

/** The length of the body; undefined for one that is sent in chunks. */
function lengthOf(ctx: RouteContext): number | undefined {
  const text = ctx.get("content-length");
  return text === "" ? undefined : Number(text);
}

async function readForm(ctx: RouteContext): Promise<WholeFile> {
  const { name, type, content } = await openFormFile(ctx, FORM_TYPE);
  const named = fileName.safeParse(name);
  if (!named.success) {
    const message = named.error.issues[0]!.message;
    throw new MillraceError("malformed_request", `the name of the file ${message}`, {
      problems: [{ code: "invalid", pointer: "/filename", message }],
    });
  }
  const typed = mediaType.safeParse(type);
  return { name, type: typed.success ? typed.data : ANY_TYPE, atMost: lengthOf(ctx), content };
}
