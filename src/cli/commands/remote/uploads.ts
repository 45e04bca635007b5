/** `millrace uploads`: the uploads of a project, listed, sent, fetched and deleted. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { finished } from "node:stream/promises";
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { UsageError } from "../../command-line.ts";
import { findProject } from "../../remote/find.ts";
import { pipeOut } from "../../remote/pipe-out.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";
import { takeItems } from "../../remote/take.ts";

export interface UploadOptions extends RemoteOptions {
  readonly project?: string;
}

const PART_TYPE = "application/offset+octet-stream";
/** A part is repeated as a whole when the connection is lost. */
const PART_BYTES = 8 * 1_024 * 1_024;

export function listUploads(options: UploadOptions & { readonly limit: number }, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: await projectOf(client, options) };
    const query = { pageSize: Math.min(options.limit, 100) };
    const uploads = await takeItems(
      client.items("/projects/{projectId}/uploads", { path, query, signal }),
      options.limit,
    );
    report.list(
      uploads,
      [
        { title: "name", text: ({ name }) => name },
        { title: "upload", text: ({ uploadId }) => uploadId },
        { title: "state", text: ({ status }) => status },
        { title: "bytes", text: ({ size }) => `${size}` },
        { title: "type", text: ({ sniffedType, type }) => sniffedType ?? type },
        { title: "by", text: ({ createdBy }) => createdBy },
        { title: "expires", text: ({ expiresAt }) => expiresAt },
      ],
      "no uploads; `millrace uploads put FILE` sends one",
    );
  });
}

/** Sends a file in parts. A part that was cut off continues where the server has got to. */
export function putUpload(
  file: string,
  options: UploadOptions & { readonly type?: string },
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const projectId = await projectOf(client, options);
    const sent = await sendFile(client, { file, projectId, type: options.type, signal });
    report.object(sent, `sent ${sent.name} (${sent.uploadId}), ${sent.size} bytes`);
  });
}

interface SentFile {
  readonly file: string;
  readonly projectId: string;
  readonly type?: string | undefined;
  /** A repeat with the same key continues the upload. */
  readonly idempotencyKey?: string | undefined;
  readonly signal: AbortSignal;
}

async function sendFile(client: Session["client"], given: SentFile): Promise<Progress> {
  const { file, projectId, type, idempotencyKey, signal } = given;
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${file}: ${error.code ?? String(error)}`);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new UsageError(`${file}: must be a file`);
    const body = {
      name: basename(file),
      size: stat.size,
      sha256: await digestOf(file),
      ...(type !== undefined && { type }),
    };
    const begun = await client.post("/projects/{projectId}/uploads", {
      path: { projectId },
      body,
      signal,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
    return await sendContent({ client, handle, begun, signal });
  } finally {
    await handle.close();
  }
}

/** `NAME=FILE`, or `NAME=ID` for a file that was sent before. */
const GIVEN = /^([A-Za-z_]\w*)=(?:(upl_[0-9A-HJKMNP-TV-Z]{26})|(.+))$/;

/** Sends the files of `--upload`, one after the other, and answers the ids of the uploads by their names. */
export async function giveUploads(
  client: Session["client"],
  given: readonly string[],
  { projectId, requestId, signal }: { projectId: string; requestId: string | undefined; signal: AbortSignal },
): Promise<Record<string, string>> {
  const parsed = given.map((text) => {
    const [, name, uploadId, file] = GIVEN.exec(text) ?? [];
    if (name === undefined) throw new UsageError(`--upload ${text}: must be NAME=FILE or NAME=ID of an upload`);
    return { name, uploadId, file };
  });
  const uploads: Record<string, string> = {};
  for (const { name, uploadId, file } of parsed) {
    const idempotencyKey = requestId === undefined ? undefined : `${requestId}/${name}`;
    uploads[name] = uploadId ?? (await sendFile(client, { file: file!, projectId, idempotencyKey, signal })).uploadId;
  }
  return uploads;
}

/** Writes the content to a file, or, without one, to standard output. */
export function getUpload(
  uploadId: string,
  options: UploadOptions & { readonly output?: string },
  signal: AbortSignal,
): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: await projectOf(client, options), uploadId };
    const { output } = options;
    const response = await client.open("/projects/{projectId}/uploads/{uploadId}/content", { path, signal });
    if (output === undefined) return pipeOut(response, process.stdout, signal);
    const to = createWriteStream(output);
    await pipeOut(response, to, signal);
    to.end();
    await finished(to);
    report.object({ uploadId, output }, `wrote ${output}`);
  });
}

export function deleteUpload(uploadId: string, options: UploadOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const path = { projectId: await projectOf(client, options), uploadId };
    await client.delete("/projects/{projectId}/uploads/{uploadId}", { path, signal });
    report.object({ uploadId, deleted: true }, `deleted ${uploadId}`);
  });
}

type Progress = Schemas["UploadProgress"];

interface Sending {
  readonly client: Session["client"];
  readonly handle: FileHandle;
  readonly begun: Progress;
  readonly signal: AbortSignal;
}

async function sendContent({ client, handle, begun, signal }: Sending): Promise<Progress> {
  const path = { projectId: begun.projectId, uploadId: begun.uploadId };
  const at = `/projects/${encodeURIComponent(path.projectId)}/uploads/${encodeURIComponent(path.uploadId)}/content`;
  let progress = begun;
  const part = Buffer.allocUnsafe(Math.min(PART_BYTES, Math.max(1, begun.size)));
  while (progress.status !== "stored") {
    const { bytesRead } = await handle.read(part, 0, part.length, progress.offset);
    if (bytesRead === 0 && begun.size > 0) throw new UsageError("the file has become shorter while it was sent");
    const headers = { "content-type": PART_TYPE, "upload-offset": `${progress.offset}` };
    const body = part.subarray(0, bytesRead);
    // The server refuses a part at another offset than its own, so that a repeat adds nothing twice.
    await client.transport.json({ method: "PATCH", path: at, headers, body, isRepeatable: false, signal });
    progress = await client.get("/projects/{projectId}/uploads/{uploadId}", { path, signal });
  }
  return progress;
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(file)) digest.update(chunk as Buffer);
  return digest.digest("hex");
}

async function projectOf(client: Session["client"], { project }: UploadOptions): Promise<string> {
  return project === undefined ? "default" : (await findProject(client, project)).projectId;
}
