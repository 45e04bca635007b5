/** The port of projects, pipelines and the revisions of their definitions. Times are Unix milliseconds. */
import { DEFAULT_TENANT, type PipelineId, type ProjectId, type RevisionId, type TenantId } from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { LogLimit, RetentionRules } from "../../domain/retention.ts";
import type { TrustDemand } from "../../domain/labels.ts";
import type { Expected } from "./expected.ts";
import type { Page, PlacedPageRequest } from "./pages.ts";

export interface Project {
  readonly projectId: ProjectId;
  /** Never changes. Absent in projects of versions without tenants; means the tenant `default`. */
  readonly tenantId?: TenantId;
  /** Unique in its tenant. */
  readonly name: string;
  /** Unique in its tenant. Absent in projects that a node of a version without slugs has made. */
  readonly slug?: string;
  readonly createdAt: number;
  /** Absent in projects of versions without descriptions; means "". */
  readonly description?: string;
  /** Since when the project takes no new pipelines and runs; absent or null while it does. */
  readonly archivedAt?: number | null;
  /**
   * Retention bounds of the project's own, which replace those of the installation part by part; absent while there are
   * none.
   */
  readonly retention?: Partial<RetentionRules>;
  /** Bounds on the log of a step, which replace those of the installation one by one; absent while there are none. */
  readonly logLimit?: Partial<LogLimit>;
  /** Which jobs need an agent with trusted labels; absent while none does. */
  readonly trustDemand?: TrustDemand;
}

/** New values of some fields of a project. */
export type ProjectChange = Partial<
  Pick<Project, "name" | "slug" | "description" | "archivedAt" | "retention" | "logLimit" | "trustDemand">
>;

export function tenantOf({ tenantId = DEFAULT_TENANT }: Pick<Project, "tenantId">): TenantId {
  return tenantId;
}

export function isArchived({ archivedAt = null }: Pick<Project, "archivedAt">): boolean {
  return archivedAt !== null;
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
  /** The secret whose value lets nodes reach the repository; absent or empty for none. */
  readonly repoCredential?: string;
  /** The software of the repository's host; absent or empty: it follows from the name of the host. */
  readonly repoProvider?: string;
  /** The secret with the token for the API of the host; absent or empty for the one of `repoCredential`. */
  readonly repoApiCredential?: string;
  /** Which commit statuses its runs set; absent or empty: those of runs, when it names `repoApiCredential`. */
  readonly commitStatuses?: "" | "off" | "run" | "jobs";
  readonly metadata: Pairs<string>;
  readonly createdBy: string;
  /** The authenticated caller that created it; `createdBy` may name another user. */
  readonly actor: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The newest saved definition; null before the first save. */
  readonly headRevisionId: RevisionId | null;
  /**
   * For a definition in Git: the commit of the default branch that a node has seen last, which holds the head. Only a hint:
   * the branch may have moved since. Absent for an inline definition.
   */
  readonly headCommit?: string;
}

/** A commit that holds a definition. Times are Unix milliseconds. */
export interface DefinitionCommit {
  readonly id: string;
  /** The full name of the ref by which it was found; the id itself for a commit. */
  readonly ref: string;
  /** Of the definition in the repository. */
  readonly path: string;
  /** The id of the content of the file. */
  readonly blob: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly authoredAt: number;
  readonly committedAt: number;
}

/** One saved definition, which never changes. `text` is what the user committed, byte for byte. */
export interface Revision {
  readonly revisionId: RevisionId;
  readonly pipelineId: PipelineId;
  readonly format: "json" | "yaml";
  readonly text: string;
  readonly message: string;
  readonly editor: string;
  readonly actor: string;
  readonly createdAt: number;
  /** The first commit in which a node has seen this text; absent for an inline definition. */
  readonly commit?: DefinitionCommit;
  /** What the text includes, at the commit; absent for a text that includes nothing. */
  readonly includes?: IncludesOfRevision;
  /** Of a definition that was saved as a pull request. */
  readonly proposal?: ProposedIn;
}

/** Files of the same commit, by their paths from the root of the repository. */
export interface IncludesOfRevision {
  /** The path of the definition itself. */
  readonly path: string;
  /** With the text of each file, or why there is none. */
  readonly files: readonly (
    | { readonly path: string; readonly text: string }
    | { readonly path: string; readonly problem: string }
  )[];
}

/** A pull request, or a merge request. */
export interface ProposedIn {
  readonly number: number;
  readonly url: string;
  readonly branch: string;
  /** The branch that it is for. */
  readonly target: string;
}

/** Revisions of a pipeline, newest first. */
export interface RevisionPage {
  readonly revisions: readonly Revision[];
  /** True when there are older ones. */
  readonly hasMore: boolean;
}

/** Projects with these ids, and those of these tenants. */
export interface ProjectFilter {
  readonly projectIds: readonly ProjectId[];
  readonly tenantIds: readonly TenantId[];
}

export interface PipelineFilter {
  readonly projectId?: ProjectId;
  /** Only pipelines of these projects; absent for all. */
  readonly projectIds?: readonly ProjectId[];
  /** A part of the name; upper and lower case do not matter. */
  readonly name?: string;
}

/** Places are those of the list that is sorted as `sort` says. */
export interface PipelinePageRequest extends PlacedPageRequest {
  readonly sort: "createdAt" | "name";
}

export interface PipelineToRun {
  readonly pipeline: Pipeline;
  readonly isBeingDeleted: boolean;
}

export interface PipelineStore {
  /**
   * `nameTaken` and `slugTaken` when another project of the tenant has the name or the slug. A repeat of the id answers
   * `created` and changes nothing.
   */
  createProject(project: Project): Promise<"created" | "nameTaken" | "slugTaken">;
  /** Replaces the fields that are given. `moved`, and nothing changes, when the project is not as `expected`. */
  changeProject(
    projectId: ProjectId,
    change: ProjectChange,
    expected?: Expected<Project>,
  ): Promise<"changed" | "missing" | "nameTaken" | "slugTaken" | "moved">;
  findProject(projectId: ProjectId): Promise<Project | undefined>;
  findProjectBySlug(tenantId: TenantId, slug: string): Promise<Project | undefined>;
  /** By their ids; all of them, or those that `only` names. */
  listProjects(only?: ProjectFilter): Promise<readonly Project[]>;
  /** Removes the record of a project, and nothing that it owns. False when there was no such project. */
  deleteProject(projectId: ProjectId): Promise<boolean>;

  /**
   * `nameTaken` when the project has another pipeline of that name. A repeat of the id answers `created` and changes
   * nothing.
   */
  create(pipeline: Pipeline): Promise<"created" | "nameTaken">;
  /**
   * Replaces all fields except `headRevisionId`, `headCommit`, `createdBy`, `actor` and `createdAt`. `moved`, and nothing changes, when
   * the pipeline is not as `expected`.
   */
  update(pipeline: Pipeline, expected?: Expected<Pipeline>): Promise<"updated" | "missing" | "nameTaken" | "moved">;
  find(pipelineId: PipelineId): Promise<Pipeline | undefined>;
  /** The pipeline, and whether its deletion is decided (deletions.ts). */
  findToRun(pipelineId: PipelineId): Promise<PipelineToRun | undefined>;
  list(filter: PipelineFilter, page: PipelinePageRequest): Promise<Page<Pipeline>>;
  /** The pipelines of all projects that have exactly this name, the oldest first; at most `limit`. */
  named(name: string, limit: number): Promise<readonly Pipeline[]>;
  /** Removes the pipeline and its revisions. False when there was no such pipeline. */
  delete(pipelineId: PipelineId): Promise<boolean>;

  /**
   * Stores a revision and makes it the head, and its commit the head commit. Answers `headMoved`, and stores nothing, unless the head is still
   * `expectedHead` (null: no head yet); `missing` when there is no such pipeline. A repeat of the revision that is the
   * head answers `saved`.
   */
  saveRevision(revision: Revision, expectedHead: RevisionId | null): Promise<"saved" | "headMoved" | "missing">;
  /** Makes a commit the head commit while `head` is the head: the commit holds the same definition. */
  seeHeadCommit(pipelineId: PipelineId, head: RevisionId, commit: string): Promise<void>;
  /**
   * Stores a definition that never becomes the head. A repeat of the id changes nothing. `delete` of its pipeline
   * removes it.
   */
  keepRevision(revision: Revision): Promise<void>;
  /** Removes a revision that {@link keepRevision} stored. Changes nothing when it is missing. */
  dropRevision(revisionId: RevisionId): Promise<void>;
  findRevision(revisionId: RevisionId): Promise<Revision | undefined>;
  /**
   * The revisions of a pipeline, newest first, without the definitions of ad hoc runs: at most `limit` that are older than `before`, or
   * the newest ones.
   */
  listRevisions(pipelineId: PipelineId, before: RevisionId | null, limit: number): Promise<RevisionPage>;
}
