/** Records of pipelines for stores. */
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { Pipeline } from "../../src/stores/ports/pipelines.ts";

/** A pipeline without a definition in the default project, whose name is its id; `fields` replace what they name. */
export function pipelineRecord(pipelineId: PipelineId, fields: Partial<Pipeline> = {}): Pipeline {
  return {
    pipelineId,
    projectId: asId<ProjectId>("default"),
    name: pipelineId,
    description: "",
    repoUrl: "",
    defaultBranch: "",
    pipelineFilePath: "",
    saveMode: "direct",
    prTargetBranch: "",
    metadata: [],
    createdBy: "",
    actor: "",
    createdAt: 1,
    updatedAt: 1,
    headRevisionId: null,
    ...fields,
  };
}
