/** The builtin `artifact`: it puts files into the workspace that an earlier step of the run has kept. */
import type {
  ArtifactFiles,
  PullArtifactRequest,
  PullArtifactResponse,
} from "../../../../proto/generated/gateway/v1/gateway.ts";
import { type ArtifactFile, bytesOfFiles } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { ArtifactPlacement, folderOf } from "./artifact-placement.ts";
import type { BuiltinCall } from "../builtin-call.ts";
import { type Attempt, callWithRetries } from "../../connection/gateway-call.ts";
import { readPatterns } from "../patterns.ts";

interface ArtifactArgs {
  readonly name: string;
  /** The job that kept the artifact; empty when the name alone identifies it. */
  readonly job: string;
  /** Patterns of the files to fetch; undefined for all files. */
  readonly paths: readonly string[] | undefined;
  /** Folder in the workspace; empty for its root. */
  readonly folder: string;
}

/** The download after its first answer. Later attempts must continue with the same artifact. */
interface Begun {
  readonly artifactId: string;
  /** Positions of the requested files in the artifact. */
  readonly positions: readonly number[];
  readonly files: readonly ArtifactFile[];
  readonly placement: ArtifactPlacement;
}

/** Fetches the artifact that the arguments name. Rejects with an error whose message is for users. */
export async function takeArtifact({ step, args, workspace, gateway, say, signal }: BuiltinCall): Promise<void> {
  const target = readArgs(args);
  let begun: Begun | undefined;
  const attempt = async (call: Attempt<PullArtifactRequest, PullArtifactResponse>): Promise<void> => {
    const { stepRunId, token } = step;
    const { name, job } = target;
    call.write({ message: { $case: "find", value: { stepRunId, token, name, job } } });
    const { message } = await call.next();
    if (message?.$case !== "found") throw new Error("the control plane sent an answer that this agent does not know");
    call.onProgress();
    begun ??= begin(message.value, target, workspace);
    if (begun.artifactId !== message.value.artifactId) {
      throw new MillraceError("conflict", `another artifact ${JSON.stringify(name)} was kept meanwhile`);
    }
    await fetchFiles(begun, call);
  };
  try {
    await callWithRetries(gateway, (client, metadata) => client.pullArtifact(metadata), attempt, signal);
  } finally {
    await begun?.placement.dispose();
  }
  const { files } = begun!;
  const size = `${bytesOfFiles(files)} bytes in ${files.length} ${files.length === 1 ? "file" : "files"}`;
  say(`the artifact ${JSON.stringify(target.name)} is here: ${size}`);
}

function begin({ artifactId, files }: ArtifactFiles, { name, paths, folder }: ArtifactArgs, workspace: string): Begun {
  const matches = paths === undefined ? () => true : readPatterns(paths).matches;
  const positions = [...files.keys()].filter((index) => matches(files[index]!.path));
  if (positions.length === 0) {
    throw new MillraceError("not_found", `no file of the artifact ${JSON.stringify(name)} matches the paths`);
  }
  const chosen = positions.map((index) => ({ ...files[index]!, sizeBytes: Number(files[index]!.sizeBytes) }));
  return { artifactId, positions, files: chosen, placement: new ArtifactPlacement(workspace, folder, chosen) };
}

/** Fetches the rest of the files, from the position that earlier attempts have reached. */
async function fetchFiles(
  { positions, files, placement }: Begun,
  { write, next, onProgress }: Attempt<PullArtifactRequest, PullArtifactResponse>,
): Promise<void> {
  await placement.write(new Uint8Array());
  const { index, offset } = placement.position;
  let left = bytesOfFiles(files.slice(index)) - offset;
  if (left === 0) return;
  write({ message: { $case: "take", value: { files: positions.slice(index), offset: BigInt(offset) } } });
  while (left > 0) {
    const { message } = await next();
    if (message?.$case !== "data") throw new Error("the control plane sent an answer that this agent does not know");
    await placement.write(message.value);
    left -= message.value.length;
    onProgress();
  }
}

function readArgs({ name, job = "", paths, path = "", ...others }: Readonly<Record<string, unknown>>): ArtifactArgs {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`does not know "${unknown}"`);
  if (typeof name !== "string" || name === "") throw wrong("takes the name of an artifact as name");
  if (typeof job !== "string") throw wrong("takes the name of a job as job");
  if (typeof path !== "string") throw wrong("takes a folder of the workspace as path");
  if (paths !== undefined && !(Array.isArray(paths) && paths.every((each) => typeof each === "string"))) {
    throw wrong("takes a list of patterns as paths");
  }
  return { name, job, paths, folder: folderOf(path) };
}

function wrong(what: string): MillraceError {
  return new MillraceError("malformed_request", `artifact ${what}`);
}
