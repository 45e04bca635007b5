/** Pipelines as messages of pipeline.v1, and the fields that callers set as the body of the same call over HTTP. */
import type { PipelineFields, PipelineRecord, SaveMode } from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { PipelineView } from "../../app/catalogue/pipelines.ts";
import { unixMs } from "./fields.ts";
import { RUN_STATUSES, wordOf } from "./words.ts";

export const SAVE_MODES = {
  direct: "SAVE_MODE_DIRECT",
  pr: "SAVE_MODE_PR",
} as const satisfies Record<PipelineView["saveMode"], SaveMode>;

export function pipelineRecord(pipeline: PipelineView): PipelineRecord {
  const { saveMode, metadata, createdAt, updatedAt, status, lastRun, ...rest } = pipeline;
  return {
    ...rest,
    saveMode: SAVE_MODES[saveMode],
    metadata: { ...metadata },
    createdAtMs: unixMs(createdAt),
    updatedAtMs: unixMs(updatedAt),
    status: RUN_STATUSES[status],
    lastRun:
      lastRun === null
        ? undefined
        : { runId: lastRun.runId, status: RUN_STATUSES[lastRun.status], createdAtMs: unixMs(lastRun.createdAt) },
  };
}

export function pipelineBody(fields: PipelineFields | undefined): Readonly<Record<string, unknown>> {
  if (fields === undefined) return {};
  const { metadata, replaceMetadata, saveMode, ...texts } = fields;
  return {
    ...texts,
    saveMode: saveMode === undefined ? undefined : wordOf(SAVE_MODES, saveMode),
    metadata: replaceMetadata || Object.keys(metadata).length > 0 ? metadata : undefined,
  };
}
