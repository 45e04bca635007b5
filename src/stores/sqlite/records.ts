/** The stores of projects, pipelines, revisions, users, tokens and agents in SQLite. */
import type { AgentId, PipelineId, ProjectId, RevisionId, TenantId } from "../../domain/ids.ts";
import type { Page } from "../ports/pages.ts";
import { type Expected, isAsExpected } from "../ports/expected.ts";
import {
  type Agent,
  agentNameTaken,
  type IdentityStore,
  partsOfAgent,
  storedToken,
  type StoredToken,
  tokenOf,
} from "../ports/identity.ts";
import {
  type Pipeline,
  type PipelineFilter,
  type PipelinePageRequest,
  type PipelineStore,
  type PipelineToRun,
  type Project,
  type ProjectChange,
  type ProjectFilter,
  type Revision,
  type RevisionPage,
  tenantOf,
} from "../ports/pipelines.ts";
import type { Database, Row } from "./database.ts";
import { bodiesOf, bodyOf } from "./bodies.ts";
import { ReadMemory } from "./read-memory.ts";
import { readPage, type SortedList } from "./pages.ts";
import { userStore } from "./users.ts";

/** As the index has it. */
const TENANT = "coalesce(json_extract(body, '$.tenantId'), 'default')";

const PROJECT_BY_SLUG = `SELECT body FROM projects WHERE ${TENANT} = ? AND json_extract(body, '$.slug') = ?`;

/** After the ids of all revisions. The ids of definitions that never were the head (`adh_`, `git_`) are before them. */
const AFTER_ALL = "rev`";

export class SqlitePipelineStore implements PipelineStore {
  readonly #db: Database;
  readonly #toRun: ReadMemory<PipelineToRun | undefined>;

  constructor(db: Database) {
    this.#db = db;
    this.#toRun = new ReadMemory(db, ["pipelines", "pipeline_deletions"]);
  }

  createProject(project: Project): Promise<"created" | "nameTaken" | "slugTaken"> {
    return this.#db.transaction(() => {
      if (this.#isProjectNameTaken(project)) return "nameTaken";
      if (this.#isProjectSlugTaken(project)) return "slugTaken";
      const sql = "INSERT INTO projects VALUES (?, ?) ON CONFLICT DO NOTHING";
      this.#db.runNow(sql, project.projectId, JSON.stringify(project));
      return "created";
    });
  }

  changeProject(projectId: ProjectId, change: ProjectChange, expected: Expected<Project> = {}) {
    return this.#db.transaction((): "changed" | "missing" | "nameTaken" | "slugTaken" | "moved" => {
      const stored = bodyOf<Project>(this.#db.getNow("SELECT body FROM projects WHERE project_id = ?", projectId));
      if (stored === undefined) return "missing";
      if (!isAsExpected(stored, expected)) return "moved";
      const project = { ...stored, ...change };
      if (this.#isProjectNameTaken(project)) return "nameTaken";
      if (this.#isProjectSlugTaken(project)) return "slugTaken";
      this.#db.runNow("UPDATE projects SET body = ? WHERE project_id = ?", JSON.stringify(project), projectId);
      return "changed";
    });
  }

  #isProjectNameTaken(project: Pick<Project, "projectId" | "tenantId" | "name">): boolean {
    const sql = `SELECT 1 AS taken FROM projects
      WHERE ${TENANT} = ? AND json_extract(body, '$.name') = ? AND project_id <> ?`;
    return this.#db.getNow(sql, tenantOf(project), project.name, project.projectId) !== undefined;
  }

  #isProjectSlugTaken(project: Project): boolean {
    if (project.slug === undefined) return false;
    const found = bodyOf<Project>(this.#db.getNow(PROJECT_BY_SLUG, tenantOf(project), project.slug));
    return found !== undefined && found.projectId !== project.projectId;
  }

  async findProjectBySlug(tenantId: TenantId, slug: string): Promise<Project | undefined> {
    return bodyOf(await this.#db.get(PROJECT_BY_SLUG, tenantId, slug));
  }

  async findProject(projectId: ProjectId): Promise<Project | undefined> {
    return bodyOf(await this.#db.get("SELECT body FROM projects WHERE project_id = ?", projectId));
  }

  async listProjects(only?: ProjectFilter): Promise<readonly Project[]> {
    if (only === undefined) return bodiesOf(await this.#db.all("SELECT body FROM projects ORDER BY project_id"));
    const sql = `SELECT body FROM projects WHERE project_id IN (SELECT value FROM json_each(?))
      OR ${TENANT} IN (SELECT value FROM json_each(?)) ORDER BY project_id`;
    return bodiesOf(await this.#db.all(sql, JSON.stringify(only.projectIds), JSON.stringify(only.tenantIds)));
  }

  async deleteProject(projectId: ProjectId): Promise<boolean> {
    const sql = "DELETE FROM projects WHERE project_id = ?";
    return (await this.#db.freeing(() => this.#db.runNow(sql, projectId))) > 0;
  }

  create(pipeline: Pipeline): Promise<"created" | "nameTaken"> {
    const { pipelineId, projectId, name, createdAt, headRevisionId } = pipeline;
    return this.#db.addition(() => {
      if (this.#isNameTaken(pipeline)) return "nameTaken";
      this.#db.runNow(
        "INSERT INTO pipelines VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        pipelineId,
        projectId,
        name,
        name.toLowerCase(),
        createdAt,
        headRevisionId,
        JSON.stringify(pipeline),
      );
      return "created";
    });
  }

  update(pipeline: Pipeline, expected: Expected<Pipeline> = {}) {
    return this.#db.transaction((): "updated" | "missing" | "nameTaken" | "moved" => {
      const stored = toPipeline(
        this.#db.getNow("SELECT body, head_revision_id FROM pipelines WHERE pipeline_id = ?", pipeline.pipelineId),
      );
      if (stored === undefined) return "missing";
      if (!isAsExpected(stored, expected)) return "moved";
      if (this.#isNameTaken(pipeline)) return "nameTaken";
      const { createdBy, actor, createdAt, headCommit } = stored;
      this.#db.runNow(
        "UPDATE pipelines SET project_id = ?, name = ?, search_name = ?, body = ? WHERE pipeline_id = ?",
        pipeline.projectId,
        pipeline.name,
        pipeline.name.toLowerCase(),
        JSON.stringify({ ...pipeline, createdBy, actor, createdAt, headCommit }),
        pipeline.pipelineId,
      );
      return "updated";
    });
  }

  async find(pipelineId: PipelineId): Promise<Pipeline | undefined> {
    return toPipeline(
      await this.#db.get("SELECT body, head_revision_id FROM pipelines WHERE pipeline_id = ?", pipelineId),
    );
  }

  findToRun(pipelineId: PipelineId): Promise<PipelineToRun | undefined> {
    return this.#toRun.get(pipelineId, () => {
      const row = this.#db.getNow(
        `SELECT body, head_revision_id,
           EXISTS (SELECT 1 FROM pipeline_deletions WHERE pipeline_id = ?1 AND decided = 1) AS is_being_deleted
         FROM pipelines WHERE pipeline_id = ?1`,
        pipelineId,
      );
      return row && { pipeline: toPipeline(row)!, isBeingDeleted: row["is_being_deleted"] === 1 };
    });
  }

  async named(name: string, limit: number): Promise<readonly Pipeline[]> {
    const sql = "SELECT body, head_revision_id FROM pipelines WHERE name = ? ORDER BY pipeline_id LIMIT ?";
    return (await this.#db.all(sql, name, limit)).map((row) => toPipeline(row)!);
  }

  async list(filter: PipelineFilter, request: PipelinePageRequest): Promise<Page<Pipeline>> {
    const clauses = ["1 = 1"];
    const values: string[] = [];
    if (filter.projectId !== undefined) {
      clauses.push("project_id = ?");
      values.push(filter.projectId);
    }
    if (filter.projectIds !== undefined) {
      clauses.push("project_id IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(filter.projectIds));
    }
    if (filter.name !== undefined) {
      clauses.push("instr(search_name, ?) > 0");
      values.push(filter.name.toLowerCase());
    }
    const list: SortedList = {
      table: "pipelines",
      columns: "body, head_revision_id",
      where: clauses.join(" AND "),
      values,
      order: [request.sort === "name" ? "name" : "created_at", "pipeline_id"],
    };
    const { rows, total } = await readPage(this.#db, list, request);
    return { list: rows.map((row) => toPipeline(row)!), total };
  }

  delete(pipelineId: PipelineId): Promise<boolean> {
    return this.#db.transaction(() => {
      this.#db.runNow("DELETE FROM revisions WHERE pipeline_id = ?", pipelineId);
      return this.#db.runNow("DELETE FROM pipelines WHERE pipeline_id = ?", pipelineId) > 0;
    });
  }

  saveRevision(revision: Revision, expectedHead: RevisionId | null): Promise<"saved" | "headMoved" | "missing"> {
    const { revisionId, pipelineId } = revision;
    return this.#db.addition(() => {
      const row = this.#db.getNow("SELECT head_revision_id FROM pipelines WHERE pipeline_id = ?", pipelineId);
      if (row === undefined) return "missing";
      if (row["head_revision_id"] === revisionId) return "saved";
      if (row["head_revision_id"] !== expectedHead) return "headMoved";
      this.#insertRevision(revision);
      const commit = revision.commit?.id ?? null;
      this.#db.runNow(
        `UPDATE pipelines SET head_revision_id = ?1, body = CASE WHEN ?2 IS NULL
           THEN json_remove(body, '$.headCommit') ELSE json_set(body, '$.headCommit', ?2) END WHERE pipeline_id = ?3`,
        revisionId,
        commit,
        pipelineId,
      );
      return "saved";
    });
  }

  async seeHeadCommit(pipelineId: PipelineId, head: RevisionId, commit: string): Promise<void> {
    await this.#db.run(
      `UPDATE pipelines SET body = json_set(body, '$.headCommit', ?) WHERE pipeline_id = ? AND head_revision_id = ?`,
      commit,
      pipelineId,
      head,
    );
  }

  async keepRevision(revision: Revision): Promise<void> {
    await this.#db.addition(() => this.#insertRevision(revision));
  }

  async dropRevision(revisionId: RevisionId): Promise<void> {
    await this.#db.run("DELETE FROM revisions WHERE revision_id = ?", revisionId);
  }

  async findRevision(revisionId: RevisionId): Promise<Revision | undefined> {
    return bodyOf(await this.#db.get("SELECT body FROM revisions WHERE revision_id = ?", revisionId));
  }

  async listRevisions(pipelineId: PipelineId, before: RevisionId | null, limit: number): Promise<RevisionPage> {
    const found = bodiesOf<Revision>(
      await this.#db.all(
        `SELECT body FROM revisions WHERE pipeline_id = ?1 AND revision_id > 'rev_'
         AND revision_id < ?2 ORDER BY revision_id DESC LIMIT ?3`,
        pipelineId,
        before ?? AFTER_ALL,
        limit + 1,
      ),
    );
    return { revisions: found.slice(0, limit), hasMore: found.length > limit };
  }

  #insertRevision(revision: Revision): void {
    this.#db.runNow(
      "INSERT INTO revisions VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      revision.revisionId,
      revision.pipelineId,
      JSON.stringify(revision),
    );
  }

  #isNameTaken({ pipelineId, projectId, name }: Pipeline): boolean {
    return (
      this.#db.getNow(
        "SELECT 1 AS taken FROM pipelines WHERE project_id = ? AND name = ? AND pipeline_id <> ?",
        projectId,
        name,
        pipelineId,
      ) !== undefined
    );
  }
}

export function identityStore(db: Database): IdentityStore {
  const findAgentNow = (agentId: AgentId): Agent | undefined =>
    bodyOf<Agent>(db.getNow("SELECT body FROM agents WHERE agent_id = ?", agentId));
  return {
    ...userStore(db),

    async createToken(token) {
      await db.run(
        "INSERT INTO tokens VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        token.tokenId,
        token.kind,
        token.subject,
        token.createdAt,
        JSON.stringify(storedToken(token)),
      );
    },
    async findToken(tokenId) {
      const stored = bodyOf<StoredToken>(await db.get("SELECT body FROM tokens WHERE token_id = ?", tokenId));
      return stored && tokenOf(stored);
    },
    listTokens: async (kind, subject) =>
      bodiesOf<StoredToken>(
        await db.all(
          "SELECT body FROM tokens WHERE kind = ? AND subject = ? ORDER BY created_at, token_id",
          kind,
          subject,
        ),
      ).map(tokenOf),
    listRegistrationTokens: async () =>
      bodiesOf<StoredToken>(await db.all("SELECT body FROM tokens WHERE kind = 'registration'")).map(tokenOf),
    countUse: async ({ tokenId, maxUses }) =>
      (await db.run(
        `UPDATE tokens SET body = json_set(body, '$.uses', coalesce(body ->> '$.uses', 0) + 1)
         WHERE token_id = ? AND coalesce(body ->> '$.uses', 0) < ?`,
        tokenId,
        maxUses ?? Number.MAX_SAFE_INTEGER,
      )) > 0,
    async noteTokenUse(tokenId, at) {
      await db.run(
        `UPDATE tokens SET body = json_set(body, '$.lastUsedAt', ?1)
         WHERE token_id = ?2 AND coalesce(body ->> '$.lastUsedAt', 0) < ?1`,
        at,
        tokenId,
      );
    },
    async forgetExpired(before) {
      await db.run("DELETE FROM tokens WHERE json_extract(body, '$.expiresAt') < ?", before);
    },
    deleteToken: async (tokenId) => (await db.run("DELETE FROM tokens WHERE token_id = ?", tokenId)) > 0,

    putAgent: (agent) =>
      db.transaction(() => {
        const { agentId, name } = agent;
        const other = db.getNow("SELECT 1 AS taken FROM agents WHERE name = ? AND agent_id <> ?", name, agentId);
        if (other !== undefined) throw agentNameTaken(name);
        const stored = findAgentNow(agentId);
        const [told] = partsOfAgent(agent);
        const [, given] = partsOfAgent(stored ?? agent);
        db.runNow(
          `INSERT INTO agents VALUES (?, ?, ?)
           ON CONFLICT (agent_id) DO UPDATE SET name = excluded.name, body = excluded.body`,
          agentId,
          name,
          JSON.stringify({ ...told, ...given }),
        );
      }),
    changeAgent: (agentId, change, expected = {}) =>
      db.transaction(() => {
        const stored = findAgentNow(agentId);
        if (stored === undefined || !isAsExpected(stored, expected)) return false;
        const body = JSON.stringify({ ...stored, ...change });
        db.runNow("UPDATE agents SET body = ? WHERE agent_id = ?", body, agentId);
        return true;
      }),
    findAgent: async (agentId) => bodyOf<Agent>(await db.get("SELECT body FROM agents WHERE agent_id = ?", agentId)),
    findAgentByName: async (name) => bodyOf<Agent>(await db.get("SELECT body FROM agents WHERE name = ?", name)),
    listAgents: async () => bodiesOf<Agent>(await db.all("SELECT body FROM agents ORDER BY name")),
    deleteAgent: (agentId) =>
      db.transaction(() => {
        db.runNow("DELETE FROM tokens WHERE kind = 'agent' AND subject = ?", agentId);
        return db.runNow("DELETE FROM agents WHERE agent_id = ?", agentId) > 0;
      }),
  };
}

/**
 * The head revision is a column of its own, so that saving a definition and updating the pipeline do not overwrite each
 * other.
 */
function toPipeline(row: Row | undefined): Pipeline | undefined {
  const pipeline = bodyOf<Pipeline>(row);
  return pipeline && { ...pipeline, headRevisionId: row!["head_revision_id"] as RevisionId | null };
}
