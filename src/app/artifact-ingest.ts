/** An artifact on its way from an agent into the store: begun, gone on with after any break, and compared at its end. */
import { createHash } from "node:crypto";
import { isHeld, type StepState } from "../../actors/step/state.ts";
import {
  type ArtifactFile,
  type ArtifactRule,
  bytesOfFiles,
  FileCutter,
  isArtifactPath,
  MANIFEST_BOUNDS,
  PIECE_BYTES,
} from "../domain/artifacts.ts";
import { MillraceError } from "../domain/errors.ts";
import { type AgentId, artifactIdOf, type RunId, type StepRunId } from "../domain/ids.ts";
import type { ArtifactRecord } from "../stores/artifacts.ts";
import { isGrantOf } from "./agent-letters.ts";
import { deleteArtifactNow, dropAbandoned, UPLOAD_MS } from "./artifact-sweeper.ts";
import type { AppContext } from "./context.ts";
import { readContent } from "./run-artifacts.ts";

export interface StepGrant {
  readonly stepRunId: StepRunId;
  readonly token: number;
}

export interface UploadRequest extends StepGrant {
  readonly name: string;
  /** As they came: nothing in them was looked at. */
  readonly files: readonly ArtifactFile[];
}

/** One stream of pieces; call one method after the other. */
export class ArtifactIngest {
  readonly #context: AppContext;
  readonly #agentId: AgentId;
  readonly #record: ArtifactRecord;
  readonly #rule: ArtifactRule;
  /** What an earlier stream had stored. */
  readonly #inherited: number;
  #storedBytes: number;

  private constructor(
    context: AppContext,
    agentId: AgentId,
    { record, rule, storedBytes }: { record: ArtifactRecord; rule: ArtifactRule; storedBytes: number },
  ) {
    this.#context = context;
    this.#agentId = agentId;
    this.#record = record;
    this.#rule = rule;
    this.#inherited = this.#storedBytes = storedBytes;
  }

  /**
   * Begins an upload, or goes on with one that was cut off. Throws `conflict` when the agent does not hold the step, the
   * step is not to keep this, or it was begun with other files; `malformed_request` for a list of files that cannot be;
   * `too_large` for more than the installation allows.
   */
  static async begin(context: AppContext, agentId: AgentId, request: UploadRequest): Promise<ArtifactIngest> {
    checkManifest(context, request);
    const { runId, step } = await heldStep(context, agentId, request);
    const { stepRunId, token, name, files } = request;
    const spec = await context.stores.plans.loadJob(runId, step.jobIndex);
    const rule = spec?.steps[step.index]?.artifacts.find((each) => each.name === name);
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
      expiresAt: now + UPLOAD_MS,
      files,
    };
    let record = await context.stores.artifacts.begin(begun, maxRunBytes);
    if (record === "full") {
      // What lost agents have begun takes no room from those that come after them.
      await dropAbandoned(context.stores, runId);
      record = await context.stores.artifacts.begin(begun, maxRunBytes);
    }
    if (record === "full") {
      throw tooLarge(
        `the artifacts of run ${runId} would have more than ${maxRunBytes} bytes in all with ${quoted(name)}`,
      );
    }
    if (record.state === "deleting") throw conflict(`artifact ${quoted(name)} was given up on`);
    if (!sameFiles(record.files, files)) throw conflict(`artifact ${quoted(name)} was begun with other files`);
    const storedBytes = record.state === "stored" ? record.sizeBytes : await storedBytesOf(context, record);
    return new ArtifactIngest(context, agentId, { record, rule, storedBytes });
  }

  get artifactId(): ArtifactRecord["artifactId"] {
    return this.#record.artifactId;
  }

  /** From where on the agent goes on. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  /**
   * Stores a piece of the content; one that is there already changes nothing. Throws `malformed_request` for one that
   * does not follow, `unavailable` when it cannot be stored now.
   */
  async append(offset: number, piece: Uint8Array): Promise<void> {
    const { artifactId, sizeBytes } = this.#record;
    const length = Math.min(PIECE_BYTES, sizeBytes - offset);
    if (offset % PIECE_BYTES !== 0 || offset > this.#storedBytes || length <= 0 || piece.length !== length) {
      const wanted = `whole pieces of ${PIECE_BYTES} bytes in order, from ${this.#storedBytes} on to ${sizeBytes}`;
      throw new MillraceError("malformed_request", `${piece.length} bytes at ${offset} are no piece: send ${wanted}`);
    }
    if (offset < this.#storedBytes) return;
    if ((await this.#context.stores.blobs.put(artifactId, offset, piece)) === "gap") {
      throw new MillraceError("unavailable", "what was stored before is gone: begin again");
    }
    this.#storedBytes = offset + length;
  }

  /**
   * The content is compared with the checksums that it was begun with, put on disk, and is an artifact from then on.
   * Throws `conflict`, and gives the upload up, when it differs; also when the agent no longer holds the step. Throws
   * `unavailable` when what differs may be what an earlier stream left: it is to be sent again as a whole. Idempotent.
   */
  async commit(): Promise<void> {
    const { stores, clock, artifactRules } = this.#context;
    const { artifactId, name, sizeBytes, stepRunId, token, state } = this.#record;
    if (this.#storedBytes < sizeBytes) {
      const text = `${this.#storedBytes} of ${sizeBytes} bytes of artifact ${quoted(name)} are there: send the others first`;
      throw new MillraceError("malformed_request", text);
    }
    await heldStep(this.#context, this.#agentId, { stepRunId, token });
    if (state === "stored") return;
    const changed = await this.#changedFile();
    if (changed !== undefined && this.#inherited > 0) {
      // A machine that lost its power, or a backup: only what comes in one stream says that the agent is wrong.
      await stores.blobs.delete(artifactId);
      throw new MillraceError("unavailable", "what was stored before is not what it was: begin again");
    }
    if (changed !== undefined) {
      await deleteArtifactNow(stores, artifactId);
      throw conflict(`the content of ${quoted(changed.path)} is not what it was begun with: it has changed meanwhile`);
    }
    if (sizeBytes > 0 && (await stores.blobs.complete(artifactId, sizeBytes)) === "incomplete") {
      throw new MillraceError("unavailable", "what was stored before is gone: begin again");
    }
    const now = clock.now();
    const expiresAt = now + (this.#rule.retentionMs ?? artifactRules.retentionMs);
    if (await stores.artifacts.store(artifactId, now, expiresAt)) return;
    if ((await stores.artifacts.find(artifactId))?.state !== "stored") {
      throw conflict(`artifact ${quoted(name)} was given up on`);
    }
  }

  /** Reads what is stored, and not what came: that is what has to be right. */
  async #changedFile(): Promise<ArtifactFile | undefined> {
    const { files, sizeBytes } = this.#record;
    const cutter = new FileCutter(files);
    let hash = createHash("sha256");
    for await (const piece of readContent(this.#context, this.#record, 0, sizeBytes)) {
      for (const { index, bytes, isLast } of cutter.cut(piece)) {
        hash.update(bytes);
        if (!isLast) continue;
        if (hash.digest("hex") !== files[index]!.sha256) return files[index];
        hash = createHash("sha256");
      }
    }
    return undefined;
  }
}

/** The step that the agent works on under this token; throws `conflict` when it is another's or over. */
export async function heldStep(
  { stores }: Pick<AppContext, "stores">,
  agentId: AgentId,
  { stepRunId, token }: StepGrant,
): Promise<{ readonly runId: RunId; readonly step: StepState }> {
  const location = await stores.aggregates.findStep(stepRunId);
  const step = location?.actor.state as StepState | undefined;
  if (location === undefined || step === undefined || !isGrantOf(step, agentId, token) || !isHeld(step)) {
    throw conflict(`this agent does not hold step run ${quoted(stepRunId)} under token ${token}, or it is over`);
  }
  return { runId: location.runId, step };
}

async function storedBytesOf({ stores }: AppContext, { artifactId, sizeBytes }: ArtifactRecord): Promise<number> {
  return Math.min(sizeBytes, await stores.blobs.storedBytes(artifactId));
}

function checkManifest({ artifactRules }: AppContext, { name, files }: UploadRequest): void {
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
