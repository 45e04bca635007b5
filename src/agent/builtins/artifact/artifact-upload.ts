/** Uploads the artifacts that a step declares, after its process has ended and before the agent reports the end. */
import { type ArtifactRule, type ContentLimits, IfMissing } from "../../../../proto/generated/agent/v1/agent.ts";
import type { PushArtifactRequest, PushArtifactResponse } from "../../../../proto/generated/gateway/v1/gateway.ts";
import { bytesOfFiles } from "../../../domain/artifacts.ts";
import { findFiles, piecesOf } from "./artifact-files.ts";
import { sendContent } from "../../connection/content-upload.ts";
import { callWithRetries, type GatewayAccess } from "../../connection/gateway-call.ts";

export interface KeptStep {
  readonly stepRunId: string;
  readonly token: bigint;
  readonly artifacts: readonly ArtifactRule[];
  /** Absent when the control plane did not tell them. */
  readonly contentLimits?: ContentLimits | undefined;
}

export interface KeepingOptions {
  readonly workspace: string;
  readonly gateway: GatewayAccess;
  /** Writes a line to the log of the step. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Uploads one artifact after the other. Returns the problem of the first that could not be kept, or undefined. Rejects
 * only with the reason of `signal`.
 */
export async function keepArtifacts(step: KeptStep, options: KeepingOptions): Promise<string | undefined> {
  const { signal, say } = options;
  let problem: string | undefined;
  for (const rule of step.artifacts) {
    try {
      await keep(step, rule, options);
    } catch (error) {
      signal.throwIfAborted();
      const text = `the artifact ${JSON.stringify(rule.name)} cannot be kept: ${(error as Error).message}`;
      say(text);
      problem ??= text;
    }
  }
  return problem;
}

async function keep(step: KeptStep, rule: ArtifactRule, options: KeepingOptions): Promise<void> {
  const { stepRunId, token, contentLimits } = step;
  const { workspace, gateway, say, signal } = options;
  const limits = contentLimits && {
    fileBytes: Number(contentLimits.fileBytes),
    allBytes: Number(contentLimits.artifactBytes),
  };
  const files = await findFiles(workspace, rule.paths, signal, limits);
  if (files.length === 0) {
    const text = `no file matches ${rule.paths.map((path) => JSON.stringify(path)).join(", ")}`;
    if (rule.ifMissing === IfMissing.IF_MISSING_IGNORE) return;
    if (rule.ifMissing !== IfMissing.IF_MISSING_WARN) throw new Error(text);
    return say(`warning: the artifact ${JSON.stringify(rule.name)} is not kept: ${text}`);
  }
  const manifest = files.map(({ path, sizeBytes, sha256, executable }) => ({
    path,
    sizeBytes: BigInt(sizeBytes),
    sha256,
    executable,
  }));
  const begin = { stepRunId, token, name: rule.name, files: manifest };
  await callWithRetries<PushArtifactRequest, PushArtifactResponse, void>(
    gateway,
    (client, metadata) => client.pushArtifact(metadata),
    (attempt) => sendContent(attempt, begin, (offset) => piecesOf(files, offset)),
    signal,
  );
  const size = `${bytesOfFiles(files)} bytes in ${files.length} ${files.length === 1 ? "file" : "files"}`;
  say(`the artifact ${JSON.stringify(rule.name)} is kept: ${size}`);
}
