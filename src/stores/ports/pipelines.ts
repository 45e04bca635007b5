/** Projects, pipelines and the revisions of their definitions. */
import type { PipelineId, ProjectId, RevisionId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/plan.ts";
import type { RetentionRules } from "../../domain/retention.ts";
import type { Page, PageRequest } from "./aggregates.ts";

export interface Project {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly createdAt: number;
  /** The parts for which the project has bounds of its own; absent while it has none. */
  readonly retention?: Partial<RetentionRules>;
}

export interface Pipeline {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** Unique within its project. */
  readonly name: string;
  readonly description: string;
  readonly repoUrl: string;
  readonly defaultBranch: string;
  readonly pipelineFilePath: string;
  readonly saveMode: "direct" | "pr";
  readonly prTargetBranch: string;
  readonly metadata: Pairs<string>;
  readonly createdBy: string;
  /** The authenticated caller that created it. */
  readonly actor: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Newest saved definition, or null before the first save. */
  readonly headRevisionId: RevisionId | null;
}

/** One saved definition; immutable. `text` is what the user committed, byte for byte. */
export interface Revision {
  readonly revisionId: RevisionId;
  readonly pipelineId: PipelineId;
  readonly format: "json" | "yaml";
  readonly text: string;
  readonly message: string;
  readonly editor: string;
  readonly actor: string;
  readonly createdAt: number;
}

export interface PipelineFilter {
  readonly projectId?: ProjectId;
  /** Part of the name, case-insensitive. */
  readonly name?: string;
}

export interface PipelineStore {
  /** Inserts; a repeat of the id changes nothing. */
  createProject(project: Project): Promise<void>;
  findProject(projectId: ProjectId): Promise<Project | undefined>;
  listProjects(): Promise<readonly Project[]>;
  /** False when there is no such project. */
  setRetention(projectId: ProjectId, retention: Partial<RetentionRules>): Promise<boolean>;

  /** `nameTaken` when the project has another pipeline of that name; a repeat of the id answers `created`. */
  create(pipeline: Pipeline): Promise<"created" | "nameTaken">;
  /** Replaces all fields but `headRevisionId` and those of the creation. */
  update(pipeline: Pipeline): Promise<"updated" | "missing" | "nameTaken">;
  find(pipelineId: PipelineId): Promise<Pipeline | undefined>;
  list(filter: PipelineFilter, page: PageRequest & { readonly sort: "createdAt" | "name" }): Promise<Page<Pipeline>>;
  /** Removes the pipeline and its revisions; false when it was not there. */
  delete(pipelineId: PipelineId): Promise<boolean>;

  /**
   * Stores a revision and makes it the head when the head is still `expectedHead` (null: no head yet). A repeat of
   * a revision that is the head answers `saved`.
   */
  saveRevision(revision: Revision, expectedHead: RevisionId | null): Promise<"saved" | "headMoved" | "missing">;
  /** Stores a definition that never is a head; a repeat of the id changes nothing. It goes with its pipeline. */
  keepRevision(revision: Revision): Promise<void>;
  /** Removes what {@link keepRevision} has stored, if it is there. */
  dropRevision(revisionId: RevisionId): Promise<void>;
  findRevision(revisionId: RevisionId): Promise<Revision | undefined>;
}
