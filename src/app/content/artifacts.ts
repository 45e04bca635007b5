/** The artifacts of runs: listed, read and deleted by users. */
import { posix } from "node:path";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { type ArtifactFile, offsetOfFile } from "../../domain/artifacts.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ArtifactId, JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import type { ArtifactRecord } from "../../stores/ports/artifacts.ts";
import type { Caller } from "../identity/access.ts";
import { deleteArtifactNow } from "./artifact-pruner.ts";
import type { ContentContext } from "./context.ts";
import { directLink } from "./direct-link.ts";
import { listFields, placedListFields, type PlacedListView, placedPartOf } from "../lists.ts";
import { artifactsOfRun, isKept, noArtifact, readContent, type RunArtifact } from "./run-artifacts.ts";
import { authoriseOnRun, reachStep } from "../reaching.ts";
import { noStepRun } from "../step-runs.ts";
import { fields, id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

export const listArtifactsQuery = z.strictObject({ ...placedListFields, name: z.string().max(1_000).optional() });

const artifactFields = () => ({
  artifactId: id<ArtifactId>(),
  name: z.string(),
  /** The run whose step uploaded it: an earlier run when a rerun reused that step. */
  runId: id<RunId>(),
  jobId: id<JobRunId>(),
  job: z.string(),
  stepRunId: id<StepRunId>(),
  step: z.string(),
  /** Bytes of all files. */
  size: wholeNumber,
  fileCount: wholeNumber,
  createdAt: time,
  expiresAt: time,
});

export const ArtifactShape = shape("Artifact", artifactFields);
export const ArtifactDetailsShape = shape("ArtifactDetails", () => ({
  ...artifactFields(),
  files: listOf(fields(() => ({ path: z.string(), size: wholeNumber, sha256: z.string() }))),
}));

type ArtifactView = z.infer<typeof ArtifactShape>;
type ArtifactDetails = z.infer<typeof ArtifactDetailsShape>;

/**
 * The stored artifacts of all attempts, oldest first; with `name` only artifacts of that name. Throws `not_found` for
 * an unknown run.
 */
export async function listArtifacts(
  context: ContentContext,
  caller: Caller,
  { runId, name, ...request }: z.output<typeof listArtifactsQuery> & { readonly runId: RunId },
): Promise<PlacedListView<ArtifactView>> {
  await authoriseOnRun(context, caller, "readArtifacts", runId);
  const now = context.clock.now();
  const kept = (await artifactsOfRun(context, runId)).filter(
    ({ artifact }) => isKept(artifact, now) && (name === undefined || artifact.name === name),
  );
  const placeOf = ({ artifact }: (typeof kept)[number]) => ({ at: artifact.createdAt, id: artifact.artifactId });
  return placedPartOf(kept, { ...request, sort: "createdAt" }, placeOf, viewOf);
}

/** Throws `not_found`, also for an artifact that has expired. */
export async function getArtifact(
  context: ContentContext,
  caller: Caller,
  { runId, artifactId }: { readonly runId: RunId; readonly artifactId: ArtifactId },
): Promise<ArtifactDetails> {
  await authoriseOnRun(context, caller, "readArtifacts", runId);
  const [all, record] = await Promise.all([artifactsOfRun(context, runId), context.stores.artifacts.find(artifactId)]);
  const found = all.find(({ artifact }) => artifact.artifactId === artifactId);
  if (found === undefined || record === undefined || !isKept(record, context.clock.now())) {
    throw noArtifact(artifactId, runId);
  }
  const files = record.files.map(({ path, sizeBytes, sha256 }) => ({ path, size: sizeBytes, sha256 }));
  return { ...viewOf(found), files };
}

export interface ArtifactContent {
  readonly file: ArtifactFile;
  /** The bytes from offset `from` on, in pieces. */
  read(from: number, length: number): AsyncIterable<Uint8Array>;
  /** As {@link directLink} says. */
  readonly link: (() => Promise<string | undefined>) | undefined;
}

/**
 * Opens one file of an artifact; without `path`, its only file. Throws `not_found`, and `conflict` when `path` is
 * absent and the artifact has several files.
 */
export async function openArtifactFile(
  context: ContentContext,
  caller: Caller,
  { runId, artifactId, path }: { readonly runId: RunId; readonly artifactId: ArtifactId; readonly path?: string },
): Promise<ArtifactContent> {
  await authoriseOnRun(context, caller, "readArtifacts", runId);
  const record = await findInRun(context, runId, artifactId);
  const { files, name } = record;
  if (path === undefined && files.length > 1) {
    const text = `artifact ${JSON.stringify(name)} has ${files.length} files: name one of them after \`content/\``;
    throw new MillraceError("conflict", text);
  }
  const index = path === undefined ? 0 : files.findIndex((file) => file.path === path);
  const file = files[index];
  if (file === undefined) {
    const text = `artifact ${JSON.stringify(name)} has no file ${JSON.stringify(path)}: its description lists them`;
    throw new MillraceError("not_found", text);
  }
  // Content that is gone is an error before the first byte is sent: later the answer could only break off.
  const offset = offsetOfFile(files, index);
  await readContent(context, record, offset, Math.min(1, file.sizeBytes)).next();
  return {
    file,
    read: (from, length) => readContent(context, record, offset + from, length),
    // Several files share one object, and an address names a whole one.
    link: files.length > 1 ? undefined : directLink(context, artifactId, posix.basename(file.path)),
  };
}

/** Deletes an artifact with its content, also when other runs reuse it. Throws `not_found`. */
export async function deleteArtifact(
  context: ContentContext,
  caller: Caller,
  { runId, artifactId }: { readonly runId: RunId; readonly artifactId: ArtifactId },
): Promise<void> {
  const user = await authoriseOnRun(context, caller, "deleteArtifacts", runId);
  const { name } = await findInRun(context, runId, artifactId);
  await recorded(user, { kind: "artifact", id: artifactId, name, before: { name } }, () =>
    deleteArtifactNow(context.stores, artifactId),
  );
  context.log.info({ artifactId, runId, artifact: name, by: user.name }, "an artifact is deleted");
}

export const listFilesQuery = z.strictObject({ page: listFields.page, pageSize: listFields.pageSize });

export interface StepRunFile {
  readonly artifactId: ArtifactId;
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly storedAtMs: number;
}

/**
 * The files of all artifacts of one step run, in the order of artifact and path. `page` counts from 1. Throws
 * `not_found`.
 */
export async function listStepRunArtifacts(
  context: ContentContext,
  caller: Caller,
  request: { readonly stepRunId: StepRunId; readonly page: number; readonly pageSize: number },
): Promise<{ readonly list: readonly StepRunFile[]; readonly total: number }> {
  const { stepRunId, page, pageSize } = request;
  const { artifacts } = context.stores;
  const missing = () => noStepRun(stepRunId);
  const { found: location } = await reachStep(context, caller, "readArtifacts", stepRunId, missing);
  const { reusedFrom } = location.actor.state as { readonly reusedFrom: StepRunId | null };
  const now = context.clock.now();
  const kept = (await artifacts.ofSteps([reusedFrom ?? stepRunId])).filter((artifact) => isKept(artifact, now));
  const total = kept.reduce((sum, { fileCount }) => sum + fileCount, 0);
  const list: StepRunFile[] = [];
  let skip = (page - 1) * pageSize;
  for (const { artifactId, fileCount, storedAt } of kept) {
    // Lists of files are long: the list of an artifact is read only when this page shows some of its files.
    if (skip < fileCount && list.length < pageSize) {
      const files = (await artifacts.find(artifactId))?.files ?? [];
      const shown = files.slice(skip, skip + pageSize - list.length);
      const storedAtMs = storedAt!;
      list.push(...shown.map(({ path, sizeBytes, sha256 }) => ({ artifactId, path, sizeBytes, sha256, storedAtMs })));
    }
    skip = Math.max(0, skip - fileCount);
  }
  return { list, total };
}

async function findInRun(context: ContentContext, runId: RunId, artifactId: ArtifactId): Promise<ArtifactRecord> {
  const record = await context.stores.artifacts.find(artifactId);
  if (record === undefined || !isKept(record, context.clock.now())) throw noArtifact(artifactId, runId);
  if (record.runId === runId) return record;
  const reused = await artifactsOfRun(context, runId);
  if (!reused.some(({ artifact }) => artifact.artifactId === artifactId)) throw noArtifact(artifactId, runId);
  return record;
}

function viewOf({ artifact, jobId, jobName, stepName }: RunArtifact): ArtifactView {
  const { artifactId, name, runId, stepRunId, sizeBytes, fileCount, createdAt, expiresAt } = artifact;
  return {
    artifactId,
    name,
    runId,
    jobId,
    job: jobName,
    stepRunId,
    step: stepName,
    size: sizeBytes,
    fileCount,
    createdAt: rfc3339(createdAt),
    expiresAt: rfc3339(expiresAt),
  };
}
