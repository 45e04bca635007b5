/** What users and agents own, in MongoDB: projects, pipelines, revisions, users, tokens, agents. */
import type { Collection, Filter } from "mongodb";
import type { AgentId, PipelineId, ProjectId, RevisionId } from "../../domain/ids.ts";
import type { Page, PageRequest } from "../aggregates.ts";
import type { Agent, IdentityStore, Token, User } from "../identity.ts";
import type { Pipeline, PipelineFilter, PipelineStore, Project, Revision } from "../pipelines.ts";
import { type Connection, guard, insertIfAbsent, isDuplicateKey, type Keyed } from "./connection.ts";

export class MongoPipelineStore implements PipelineStore {
  readonly #projects: Collection<Keyed>;
  readonly #pipelines: Collection<Keyed>;
  readonly #revisions: Collection<Keyed>;

  constructor(connection: Connection) {
    this.#projects = connection.collection("projects");
    this.#pipelines = connection.collection("pipelines");
    this.#revisions = connection.collection("revisions");
  }

  /** Makes the indexes; idempotent. */
  async prepare(): Promise<void> {
    await guard(async () => {
      await this.#pipelines.createIndexes([
        { key: { projectId: 1, name: 1 }, unique: true },
        { key: { createdAt: 1, _id: 1 } },
        { key: { name: 1, _id: 1 } },
      ]);
      await this.#revisions.createIndexes([{ key: { pipelineId: 1 } }]);
    });
  }

  async createProject(project: Project): Promise<void> {
    await insertIfAbsent(this.#projects, { _id: project.projectId, body: project });
  }

  async findProject(projectId: ProjectId): Promise<Project | undefined> {
    return bodyOf(await guard(() => this.#projects.findOne({ _id: projectId })));
  }

  async listProjects(): Promise<readonly Project[]> {
    return bodiesOf(await guard(() => this.#projects.find().sort({ _id: 1 }).toArray()));
  }

  async create(pipeline: Pipeline): Promise<"created" | "nameTaken"> {
    const { pipelineId, projectId, name, createdAt, headRevisionId } = pipeline;
    const document = { _id: pipelineId, projectId, name, searchName: name.toLowerCase(), createdAt, headRevisionId };
    if (await insertIfAbsent(this.#pipelines, { ...document, body: pipeline })) return "created";
    return (await this.find(pipelineId)) === undefined ? "nameTaken" : "created";
  }

  async update(pipeline: Pipeline): Promise<"updated" | "missing" | "nameTaken"> {
    const { pipelineId, projectId, name } = pipeline;
    const stored = await this.find(pipelineId);
    if (stored === undefined) return "missing";
    const { createdBy, actor, createdAt } = stored;
    const body = { ...pipeline, createdBy, actor, createdAt };
    return guard(async () => {
      try {
        const set = { projectId, name, searchName: name.toLowerCase(), body };
        const result = await this.#pipelines.updateOne({ _id: pipelineId }, { $set: set });
        return result.matchedCount === 0 ? "missing" : "updated";
      } catch (error) {
        if (isDuplicateKey(error)) return "nameTaken";
        throw error;
      }
    });
  }

  async find(pipelineId: PipelineId): Promise<Pipeline | undefined> {
    return toPipeline(await guard(() => this.#pipelines.findOne({ _id: pipelineId })));
  }

  async list(
    filter: PipelineFilter,
    { page, pageSize, descending, sort }: PageRequest & { readonly sort: "createdAt" | "name" },
  ): Promise<Page<Pipeline>> {
    const query: Filter<Keyed> = {};
    if (filter.projectId !== undefined) query["projectId"] = filter.projectId;
    if (filter.name !== undefined) query["searchName"] = { $regex: escapeRegex(filter.name.toLowerCase()) };
    const direction = descending ? -1 : 1;
    return guard(async () => {
      const total = await this.#pipelines.countDocuments(query);
      const list = await this.#pipelines
        .find(query)
        .sort({ [sort]: direction, _id: direction })
        .skip((page - 1) * pageSize)
        .limit(pageSize)
        .toArray();
      return { list: list.map((document) => toPipeline(document)!), total };
    });
  }

  async delete(pipelineId: PipelineId): Promise<boolean> {
    const result = await guard(() => this.#pipelines.deleteOne({ _id: pipelineId }));
    await guard(() => this.#revisions.deleteMany({ pipelineId }));
    return result.deletedCount > 0;
  }

  async saveRevision(revision: Revision, expectedHead: RevisionId | null): Promise<"saved" | "headMoved" | "missing"> {
    const { revisionId, pipelineId } = revision;
    // The revision before the head: a head never names a revision that is not there.
    await insertIfAbsent(this.#revisions, { _id: revisionId, pipelineId, body: revision });
    const result = await guard(() =>
      this.#pipelines.updateOne(
        { _id: pipelineId, headRevisionId: expectedHead },
        { $set: { headRevisionId: revisionId } },
      ),
    );
    if (result.matchedCount > 0) return "saved";
    const pipeline = await this.find(pipelineId);
    if (pipeline?.headRevisionId === revisionId) return "saved";
    await guard(() => this.#revisions.deleteOne({ _id: revisionId }));
    return pipeline === undefined ? "missing" : "headMoved";
  }

  async findRevision(revisionId: RevisionId): Promise<Revision | undefined> {
    return bodyOf(await guard(() => this.#revisions.findOne({ _id: revisionId })));
  }
}

export function identityStore(connection: Connection): IdentityStore & { prepare(): Promise<void> } {
  const users = connection.collection("users");
  const tokens = connection.collection("tokens");
  const agents = connection.collection("agents");
  return {
    async prepare() {
      await guard(async () => {
        await users.createIndexes([{ key: { name: 1 }, unique: true }]);
        await tokens.createIndexes([{ key: { kind: 1, subject: 1, createdAt: 1 } }]);
        await agents.createIndexes([{ key: { name: 1 }, unique: true }]);
      });
    },
    async createUser(user) {
      const { userId, name, createdAt } = user;
      if (await insertIfAbsent(users, { _id: userId, name, createdAt, body: user })) return "created";
      return (await guard(() => users.findOne({ _id: userId }))) === null ? "nameTaken" : "created";
    },
    findUser: async (userId) => bodyOf<User>(await guard(() => users.findOne({ _id: userId }))),
    findUserByName: async (name) => bodyOf<User>(await guard(() => users.findOne({ name }))),
    listUsers: async () => bodiesOf<User>(await guard(() => users.find().sort({ createdAt: 1, _id: 1 }).toArray())),

    async createToken(token) {
      const { tokenId, kind, subject, createdAt } = token;
      await insertIfAbsent(tokens, { _id: tokenId, kind, subject, createdAt, body: token });
    },
    findToken: async (tokenId) => bodyOf<Token>(await guard(() => tokens.findOne({ _id: tokenId }))),
    listTokens: async (kind, subject) =>
      bodiesOf<Token>(await guard(() => tokens.find({ kind, subject }).sort({ createdAt: 1, _id: 1 }).toArray())),
    deleteToken: async (tokenId) => (await guard(() => tokens.deleteOne({ _id: tokenId }))).deletedCount > 0,

    async putAgent(agent) {
      const { agentId, name } = agent;
      // Labels have keys such as `kubernetes.io/os`: an agent is kept as text.
      const text = JSON.stringify(agent);
      await guard(() => agents.updateOne({ _id: agentId }, { $set: { name, text } }, { upsert: true }));
    },
    findAgent: async (agentId) => toAgent(await guard(() => agents.findOne({ _id: agentId }))),
    findAgentByName: async (name) => toAgent(await guard(() => agents.findOne({ name }))),
    listAgents: async () =>
      (await guard(() => agents.find().sort({ name: 1 }).toArray())).map((document) => toAgent(document)!),
    async deleteAgent(agentId: AgentId) {
      await guard(() => tokens.deleteMany({ kind: "agent", subject: agentId }));
      return (await guard(() => agents.deleteOne({ _id: agentId }))).deletedCount > 0;
    },
  };
}

/** The head revision is a field of its own: saves of definitions and of the record do not overwrite one another. */
function toPipeline(document: Keyed | null): Pipeline | undefined {
  const pipeline = bodyOf<Pipeline>(document);
  return pipeline && { ...pipeline, headRevisionId: document!["headRevisionId"] as RevisionId | null };
}

function toAgent(document: Keyed | null): Agent | undefined {
  return document === null ? undefined : (JSON.parse(document["text"] as string) as Agent);
}

function bodyOf<T>(document: Keyed | null): T | undefined {
  return document === null ? undefined : (document["body"] as T);
}

function bodiesOf<T>(documents: readonly Keyed[]): readonly T[] {
  return documents.map((document) => bodyOf<T>(document)!);
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
