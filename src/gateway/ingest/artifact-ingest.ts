/** Uploads of artifacts from agents into the store: which steps may upload, and what an artifact may contain. */
import {
  type ArtifactFile,
  type ArtifactRule,
  bytesOfFiles,
  isArtifactPath,
  MANIFEST_BOUNDS,
} from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type AgentId, artifactIdOf } from "../../domain/ids.ts";
import type { ArtifactRecord } from "../../stores/ports/artifacts.ts";
import { deleteArtifactNow, deleteAbandonedUploads, UPLOAD_CHECK_MS } from "../../app/content/artifact-pruner.ts";
import { ContentIngest } from "../../app/content/content.ts";
import type { IngestContext } from "./context.ts";
import { declaredArtifacts } from "../declared-artifacts.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

/** The upload that an agent begins. */
export interface UploadRequest extends StepGrant {
  readonly name: string;
  /** As the agent sent them: not validated yet. */
  readonly files: readonly ArtifactFile[];
}

/** One stream of pieces. Calls must not overlap. */
export class ArtifactIngest {
  readonly #context: IngestContext;
  readonly #agentId: AgentId;
  readonly #record: ArtifactRecord;
  readonly #rule: ArtifactRule;
  readonly #content: ContentIngest;

  private constructor(
    context: IngestContext,
    agentId: AgentId,
    { record, rule, content }: { record: ArtifactRecord; rule: ArtifactRule; content: ContentIngest },
  ) {
    this.#context = context;
    this.#agentId = agentId;
    this.#record = record;
    this.#rule = rule;
    this.#content = content;
  }

  /**
   * Begins an upload, or resumes one that was cut off. Throws `conflict` when the agent does not hold the step, when
   * the step declares no such artifact, and when the upload was begun with other files; `malformed_request` for an
   * invalid list of files; `too_large` for more bytes than the installation allows.
   */
  static async begin(context: IngestContext, agentId: AgentId, request: UploadRequest): Promise<ArtifactIngest> {
    checkManifest(context, request);
    const { runId, step } = await requireHeldStep(context, agentId, request);
    const { stepRunId, token, name, files } = request;
    const declared = await declaredArtifacts(context.stores, step);
    const rule = declared.find((one) => one.name === name);
    if (rule === undefined) throw conflict(`step run ${stepRunId} declares no artifact ${JSON.stringify(name)}`);
    const now = context.clock.now();
    const { maxRunBytes } = context.artifactRules;
    const begun: ArtifactRecord = {
      artifactId: artifactIdOf(runId, stepRunId, token, name),
      runId,
      stepRunId,
      token,
      name,
      state: "uploading",
      sizeBytes: bytesOfFiles(files),
      fileCount: files.length,
      createdAt: now,
      storedAt: null,
      expiresAt: now + UPLOAD_CHECK_MS,
      files,
    };
    let record = await context.stores.artifacts.begin(begun, maxRunBytes);
    if (record === "full") {
      // Uploads that lost agents began must not take the room of later uploads.
      await deleteAbandonedUploads(context.stores, runId);
      record = await context.stores.artifacts.begin(begun, maxRunBytes);
    }
    if (record === "full") {
      throw tooLarge(
        `the artifacts of run ${runId} would have more than ${maxRunBytes} bytes in all with ${quoted(name)}`,
      );
    }
    if (record.state === "deleting") throw conflict(`artifact ${quoted(name)} was given up on`);
    if (!sameFiles(record.files, files)) throw conflict(`artifact ${quoted(name)} was begun with other files`);
    const { artifactId: blobId, sizeBytes } = record;
    const sent = { blobId, what: `artifact ${quoted(name)}`, sizeBytes, files };
    const content = await ContentIngest.resume(context.stores.blobs, sent, record.state === "stored");
    return new ArtifactIngest(context, agentId, { record, rule, content });
  }

  get id(): ArtifactRecord["artifactId"] {
    return this.#record.artifactId;
  }

  /** Bytes that are stored: the offset from which the agent continues. */
  get storedBytes(): number {
    return this.#content.storedBytes;
  }

  /** As {@link ContentIngest.append}. */
  append(offset: number, piece: Uint8Array): Promise<void> {
    return this.#content.append(offset, piece);
  }

  flush(): Promise<void> {
    return this.#content.flush();
  }

  /**
   * Compares the content with the checksums that the upload was begun with, makes it durable, and completes the
   * artifact. Throws `conflict` when the agent no longer holds the step, and when the content differs, which also
   * deletes the upload. Throws `unavailable` when bytes of an earlier stream may be the ones that differ: the agent
   * then sends all of the content again. Idempotent.
   */
  async commit(): Promise<void> {
    const { stores, clock, artifactRules } = this.#context;
    const { artifactId, name, stepRunId, token, state } = this.#record;
    this.#content.requireAll();
    await requireHeldStep(this.#context, this.#agentId, { stepRunId, token });
    if (state === "stored") return;
    const changed = await this.#content.complete();
    if (changed !== undefined) {
      await deleteArtifactNow(stores, artifactId);
      throw conflict(`the content of ${quoted(changed)} is not what it was begun with: it has changed meanwhile`);
    }
    const now = clock.now();
    const expiresAt = now + (this.#rule.retentionMs ?? artifactRules.retentionMs);
    if (await stores.artifacts.store(artifactId, now, expiresAt)) return;
    if ((await stores.artifacts.find(artifactId))?.state !== "stored") {
      throw conflict(`artifact ${quoted(name)} was given up on`);
    }
  }
}

function checkManifest({ artifactRules }: IngestContext, { name, files }: UploadRequest): void {
  const { maxFileBytes, maxArtifactBytes } = artifactRules;
  if (files.length === 0) throw malformed(`artifact ${quoted(name)} has no files`);
  if (files.length > MANIFEST_BOUNDS.files) {
    throw tooLarge(`artifact ${quoted(name)} has ${files.length} files; ${MANIFEST_BOUNDS.files} are allowed`);
  }
  const paths = new Set(files.map(({ path }) => path));
  if (paths.size < files.length) throw malformed(`artifact ${quoted(name)} has a file twice`);
  let pathBytes = 0;
  for (const { path, sizeBytes, sha256 } of files) {
    if (!isArtifactPath(path)) throw malformed(`${quoted(path.slice(0, 200))} is no path within a workspace`);
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw malformed(`${quoted(path)} has no SHA-256 in hexadecimal digits`);
    if (!(Number.isSafeInteger(sizeBytes) && sizeBytes >= 0)) throw malformed(`${quoted(path)} has no size`);
    if (sizeBytes > maxFileBytes) {
      throw tooLarge(`${quoted(path)} has ${sizeBytes} bytes; ${maxFileBytes} are allowed for a file that is kept`);
    }
    pathBytes += Buffer.byteLength(path);
  }
  if (pathBytes > MANIFEST_BOUNDS.allPathBytes) {
    throw tooLarge(`the paths of artifact ${quoted(name)} have more than ${MANIFEST_BOUNDS.allPathBytes} bytes in all`);
  }
  const sizeBytes = bytesOfFiles(files);
  if (sizeBytes > maxArtifactBytes) {
    throw tooLarge(`artifact ${quoted(name)} has ${sizeBytes} bytes; ${maxArtifactBytes} are allowed for an artifact`);
  }
}

function sameFiles(a: readonly ArtifactFile[], b: readonly ArtifactFile[]): boolean {
  const isSame = (one: ArtifactFile, other: ArtifactFile | undefined): boolean =>
    one.path === other?.path &&
    one.sizeBytes === other.sizeBytes &&
    one.sha256 === other.sha256 &&
    one.executable === other.executable;
  return a.length === b.length && a.every((file, index) => isSame(file, b[index]));
}

const quoted = (text: string): string => JSON.stringify(text);
const malformed = (text: string): MillraceError => new MillraceError("malformed_request", text);
const tooLarge = (text: string): MillraceError => new MillraceError("too_large", text);
const conflict = (text: string): MillraceError => new MillraceError("conflict", text);
