/** The stores of projects, pipelines, revisions, users, tokens and agents in MongoDB. */
import type { Collection, Filter } from "mongodb";
import {
  asId,
  DEFAULT_TENANT,
  type PipelineId,
  type ProjectId,
  type RevisionId,
  type TenantId,
  type UserId,
} from "../../domain/ids.ts";
import type { Labels } from "../../domain/labels.ts";
import type { Page } from "../ports/pages.ts";
import type { Expected } from "../ports/expected.ts";
import {
  type Agent,
  agentNameTaken,
  type IdentityStore,
  type OperatorFields,
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
  type Project,
  type ProjectChange,
  type ProjectFilter,
  type Revision,
  type RevisionPage,
  tenantOf,
} from "../ports/pipelines.ts";
import type { PipelineDeletionStore } from "../ports/deletions.ts";
import { pipelineDeletionStore } from "./deletions.ts";
import { bodiesOf, bodyAsExpected, bodyOf } from "./bodies.ts";
import { type Connection, insertIfAbsent, isDuplicateKey, type Keyed } from "./connection.ts";
import { userStore } from "./users.ts";
import { readPage } from "./pages.ts";

interface PipelineDocument {
  readonly _id: PipelineId;
  readonly projectId: ProjectId;
  readonly name: string;
  readonly searchName: string;
  readonly createdAt: number;
  readonly body: Pipeline;
  /** A field of its own, so that saving a definition and updating the pipeline do not overwrite each other. */
  readonly headRevisionId: RevisionId | null;
  /** The whole head revision, so that one update stores a revision and makes it the head. */
  readonly head: Revision | null;
}

interface RevisionDocument {
  readonly _id: RevisionId;
  readonly pipelineId: PipelineId;
  readonly body: Revision;
}

const WITHOUT_HEAD = { head: 0 } as const;

export class MongoPipelineStore implements PipelineStore {
  readonly #projects: Collection<Keyed>;
  readonly #pipelines: Collection<PipelineDocument>;
  /** Earlier heads, and revisions that never were the head. */
  readonly #revisions: Collection<RevisionDocument>;
  readonly #deletions: PipelineDeletionStore;

  constructor(connection: Connection) {
    this.#projects = connection.collection("projects");
    this.#pipelines = connection.collection("pipelines");
    this.#revisions = connection.collection("revisions");
    this.#deletions = pipelineDeletionStore(connection);
  }

  async createProject(project: Project): Promise<"created" | "nameTaken" | "slugTaken"> {
    const inserted = await insertIfAbsent(this.#projects, {
      _id: project.projectId,
      slug: project.slug ?? project.projectId,
      body: project,
    });
    if (inserted || (await this.findProject(project.projectId)) !== undefined) return "created";
    return this.#whatIsTaken(project);
  }

  /** What of a project that could not be stored another one has. */
  async #whatIsTaken({ name, ...project }: Pick<Project, "name" | "tenantId">): Promise<"nameTaken" | "slugTaken"> {
    const namesake = await this.#projects.findOne({ ...ofTenants([tenantOf(project)]), "body.name": name });
    return namesake === null ? "slugTaken" : "nameTaken";
  }

  async changeProject(projectId: ProjectId, change: ProjectChange, expected: Expected<Project> = {}) {
    const fields = Object.fromEntries(Object.entries(change).map(([field, value]) => [`body.${field}`, value]));
    const set = { ...fields, ...(change.slug !== undefined && { slug: change.slug }) };
    try {
      const { matchedCount } = await this.#projects.updateOne(
        { _id: projectId, ...bodyAsExpected(expected) },
        { $set: set },
      );
      if (matchedCount > 0) return "changed" as const;
      return (await this.findProject(projectId)) === undefined ? ("missing" as const) : ("moved" as const);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const stored = await this.findProject(projectId);
      if (stored === undefined) return "missing" as const;
      if (change.name === undefined || change.name === stored.name) return "slugTaken" as const;
      return this.#whatIsTaken({ ...stored, name: change.name });
    }
  }

  async findProjectBySlug(tenantId: TenantId, slug: string): Promise<Project | undefined> {
    return bodyOf(await this.#projects.findOne({ ...ofTenants([tenantId]), slug }));
  }

  async findProject(projectId: ProjectId): Promise<Project | undefined> {
    return bodyOf(await this.#projects.findOne({ _id: projectId }));
  }

  async listProjects(only?: ProjectFilter): Promise<readonly Project[]> {
    const named = only && { $or: [{ _id: { $in: [...only.projectIds] } }, ofTenants(only.tenantIds)] };
    return bodiesOf(
      await this.#projects
        .find(named ?? {})
        .sort({ _id: 1 })
        .toArray(),
    );
  }

  async deleteProject(projectId: ProjectId): Promise<boolean> {
    return (await this.#projects.deleteOne({ _id: projectId })).deletedCount > 0;
  }

  async create(pipeline: Pipeline): Promise<"created" | "nameTaken"> {
    const { pipelineId, projectId, name, createdAt } = pipeline;
    const inserted = await insertIfAbsent<PipelineDocument>(this.#pipelines, {
      _id: pipelineId,
      projectId,
      name,
      searchName: name.toLowerCase(),
      createdAt,
      body: pipeline,
      headRevisionId: null,
      head: null,
    });
    return inserted || (await this.find(pipelineId)) !== undefined ? "created" : "nameTaken";
  }

  async update(pipeline: Pipeline, { headRevisionId: head, ...expected }: Expected<Pipeline> = {}) {
    const { pipelineId, projectId, name } = pipeline;
    const stored = await this.find(pipelineId);
    if (stored === undefined) return "missing" as const;
    const { createdBy, actor, createdAt, headCommit } = stored;
    const { headCommit: _, ...given } = pipeline;
    const body = { ...given, createdBy, actor, createdAt, ...(headCommit !== undefined && { headCommit }) };
    const set = { projectId, name, searchName: name.toLowerCase(), body };
    try {
      const filter = {
        _id: pipelineId,
        ...(head !== undefined && { headRevisionId: head }),
        ...bodyAsExpected(expected),
      };
      const { matchedCount } = await this.#pipelines.updateOne(filter, { $set: set });
      if (matchedCount > 0) return "updated" as const;
      return (await this.find(pipelineId)) === undefined ? ("missing" as const) : ("moved" as const);
    } catch (error) {
      if (isDuplicateKey(error)) return "nameTaken" as const;
      throw error;
    }
  }

  async find(pipelineId: PipelineId): Promise<Pipeline | undefined> {
    const document = await this.#pipelines.findOne({ _id: pipelineId }, { projection: WITHOUT_HEAD });
    return document === null ? undefined : toPipeline(document);
  }

  async findToRun(pipelineId: PipelineId) {
    const [pipeline, deletion] = await Promise.all([this.find(pipelineId), this.#deletions.find(pipelineId)]);
    return pipeline && { pipeline, isBeingDeleted: deletion?.decided === true };
  }

  async named(name: string, limit: number): Promise<readonly Pipeline[]> {
    const found = this.#pipelines.find({ name }, { projection: WITHOUT_HEAD }).sort({ _id: 1 }).limit(limit);
    return (await found.toArray()).map(toPipeline);
  }

  async list(filter: PipelineFilter, request: PipelinePageRequest): Promise<Page<Pipeline>> {
    const query: Filter<PipelineDocument> = {
      ...projectsOf(filter),
      ...(filter.name === undefined ? {} : { searchName: { $regex: escapeRegex(filter.name.toLowerCase()) } }),
    };
    const order = [request.sort, "_id"];
    const pipelines = { collection: this.#pipelines, filter: query, order, projection: WITHOUT_HEAD };
    const { documents, total } = await readPage(pipelines, request);
    return { list: documents.map(toPipeline), total };
  }

  async delete(pipelineId: PipelineId): Promise<boolean> {
    const { deletedCount } = await this.#pipelines.deleteOne({ _id: pipelineId });
    await this.#revisions.deleteMany({ pipelineId });
    return deletedCount > 0;
  }

  async saveRevision(revision: Revision, expectedHead: RevisionId | null): Promise<"saved" | "headMoved" | "missing"> {
    const { revisionId, pipelineId } = revision;
    const stored = await this.#pipelines.findOne({ _id: pipelineId });
    if (stored === null) return "missing";
    if (stored.headRevisionId === revisionId) return "saved";
    if (stored.headRevisionId !== expectedHead) return "headMoved";
    // The old head is stored as a revision before it is replaced, so that a saved revision can be found at any time.
    const { head } = stored;
    if (head !== null) await insertIfAbsent(this.#revisions, { _id: head.revisionId, pipelineId, body: head });
    const { matchedCount } = await this.#pipelines.updateOne(
      { _id: pipelineId, headRevisionId: expectedHead },
      {
        $set: {
          headRevisionId: revisionId,
          head: revision,
          ...(revision.commit && { "body.headCommit": revision.commit.id }),
        },
        ...(revision.commit === undefined && { $unset: { "body.headCommit": "" } }),
      },
    );
    // Another call changed the head first: now it is another revision, or this one.
    return matchedCount > 0 ? "saved" : this.saveRevision(revision, expectedHead);
  }

  async seeHeadCommit(pipelineId: PipelineId, head: RevisionId, commit: string): Promise<void> {
    await this.#pipelines.updateOne({ _id: pipelineId, headRevisionId: head }, { $set: { "body.headCommit": commit } });
  }

  async keepRevision(revision: Revision): Promise<void> {
    const { revisionId, pipelineId } = revision;
    await insertIfAbsent(this.#revisions, { _id: revisionId, pipelineId, body: revision });
  }

  async dropRevision(revisionId: RevisionId): Promise<void> {
    await this.#revisions.deleteOne({ _id: revisionId });
  }

  async findRevision(revisionId: RevisionId): Promise<Revision | undefined> {
    // Heads first: a head that is replaced after this look is stored among the other revisions already.
    const pipeline = await this.#pipelines.findOne({ headRevisionId: revisionId }, { projection: { head: 1 } });
    return pipeline?.head ?? (await this.#revisions.findOne({ _id: revisionId }))?.body;
  }

  async listRevisions(pipelineId: PipelineId, before: RevisionId | null, limit: number): Promise<RevisionPage> {
    // The head first, as in findRevision: one that is replaced meanwhile is found twice, and shown once.
    const head = (await this.#pipelines.findOne({ _id: pipelineId }, { projection: { head: 1 } }))?.head ?? null;
    const older = await this.#revisions
      // The ids of definitions that never were the head (`adh_`, `git_`) are before those of all revisions.
      .find({ pipelineId, _id: { $gt: "rev_" as RevisionId, ...(before !== null && { $lt: before }) } })
      .sort({ _id: -1 })
      .limit(limit + 1)
      .toArray();
    const others = older.map(({ body }) => body).filter(({ revisionId }) => revisionId !== head?.revisionId);
    const isShown = head !== null && (before === null || head.revisionId < before);
    const all = [...(isShown ? [head] : []), ...others].toSorted((a, b) => (a.revisionId < b.revisionId ? 1 : -1));
    return { revisions: all.slice(0, limit), hasMore: all.length > limit };
  }
}

export function identityStore(connection: Connection): IdentityStore {
  const tokens = connection.collection("tokens");
  const agents = connection.collection("agents");
  const users = userStore(connection);
  return {
    ...users,

    async createToken(token) {
      const { tokenId, kind, subject, createdAt } = token;
      await insertIfAbsent(tokens, { _id: tokenId, kind, subject, createdAt, body: storedToken(token) });
    },
    async findToken(tokenId) {
      const stored = bodyOf<StoredToken>(await tokens.findOne({ _id: tokenId }));
      return stored && tokenOf(stored);
    },
    async findProof(tokenId) {
      const stored = bodyOf<StoredToken>(await tokens.findOne({ _id: tokenId }));
      if (stored === undefined) return undefined;
      const isPersonal = stored.kind === "personal";
      return {
        token: tokenOf(stored),
        user: isPersonal ? await users.findUser(asId<UserId>(stored.subject)) : undefined,
      };
    },
    listTokens: async (kind, subject) =>
      bodiesOf<StoredToken>(await tokens.find({ kind, subject }).sort({ createdAt: 1, _id: 1 }).toArray()).map(tokenOf),
    listRegistrationTokens: async () =>
      bodiesOf<StoredToken>(await tokens.find({ kind: "registration" }).toArray()).map(tokenOf),
    async countUse({ tokenId, maxUses }) {
      const unspent = maxUses === null ? {} : { "body.uses": { $lt: maxUses } };
      return (await tokens.updateOne({ _id: tokenId, ...unspent }, { $inc: { "body.uses": 1 } })).matchedCount > 0;
    },
    async noteTokenUse(tokenId, at) {
      await tokens.updateOne({ _id: tokenId }, { $max: { "body.lastUsedAt": at } });
    },
    async forgetExpired(before) {
      await tokens.deleteMany({ "body.expiresAt": { $lt: before } });
    },
    deleteToken: async (tokenId) => (await tokens.deleteOne({ _id: tokenId })).deletedCount > 0,

    async putAgent(agent) {
      const { agentId, name } = agent;
      // An agent is stored as text, because its labels may have keys with dots (`kubernetes.io/os`).
      const [told, given] = partsOfAgent(agent);
      const update = { $set: { name, text: JSON.stringify(told) }, $setOnInsert: givenFields(given) };
      try {
        await agents.updateOne({ _id: agentId }, update, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        throw agentNameTaken(name);
      }
    },
    async changeAgent(agentId, change, expected) {
      const { trustedLabels: labels } = expected ?? {};
      const trustedText = labels === undefined ? null : JSON.stringify(labels);
      const isReachExpected = expected !== undefined && "reach" in expected;
      const filter = {
        _id: agentId,
        ...(expected !== undefined && { trustedText }),
        // Null stands for an absent field too.
        ...(isReachExpected && { reach: expected.reach ?? null }),
      };
      return (await agents.updateOne(filter, { $set: givenFields(change) })).matchedCount > 0;
    },
    findAgent: async (agentId) => toAgent(await agents.findOne({ _id: agentId })),
    findAgentByName: async (name) => toAgent(await agents.findOne({ name })),
    listAgents: async () => (await agents.find().sort({ name: 1 }).toArray()).map((document) => toAgent(document)!),
    async deleteAgent(agentId) {
      await tokens.deleteMany({ kind: "agent", subject: agentId });
      return (await agents.deleteOne({ _id: agentId })).deletedCount > 0;
    },
  };
}

/** Labels are stored as text, as in {@link IdentityStore.putAgent}. */
function givenFields({ trustedLabels, ...given }: OperatorFields): Readonly<Record<string, unknown>> {
  return trustedLabels === undefined ? given : { ...given, trustedText: JSON.stringify(trustedLabels) };
}

function toAgent(document: Keyed | null): Agent | undefined {
  if (document === null) return undefined;
  const agent = JSON.parse(document["text"] as string) as Agent;
  const { _id, name: _name, text: _text, trustedText: trusted, ...given } = document;
  const trustedLabels = trusted === undefined ? {} : { trustedLabels: JSON.parse(trusted as string) as Labels };
  return { ...agent, ...trustedLabels, ...given };
}

function toPipeline({ body, headRevisionId }: Pick<PipelineDocument, "body" | "headRevisionId">): Pipeline {
  return { ...body, headRevisionId };
}

function ofTenants(tenantIds: readonly TenantId[]) {
  // Without the field, a project is of the tenant `default`.
  return { "body.tenantId": { $in: tenantIds.flatMap((one) => (one === DEFAULT_TENANT ? [one, null] : [one])) } };
}

function projectsOf({ projectId, projectIds }: PipelineFilter): Filter<PipelineDocument> {
  if (projectIds === undefined) return projectId === undefined ? {} : { projectId };
  return { projectId: { $in: projectIds.filter((one) => projectId === undefined || one === projectId) } };
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
