/**
 * Each list query on MongoDB has an index: the table below names it. With MONGODB_TEST_URL, which names a real server, the
 * server says that it uses an index and sorts nothing in memory.
 */
import { expect } from "chai";
import { Collection, type Document, type FindCursor, MongoClient } from "mongodb";
import { asId, DEFAULT_TENANT, newId, type ProjectId } from "../../src/domain/ids.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { DELIVERY_LISTS, type Index, type Row } from "./mongo-delivery-lists.ts";

/** A query that was sent, as it was put together. */
interface Query {
  readonly collection: string;
  readonly filter: Document;
  sort: Document;
  readonly cursor: FindCursor;
}

const page = { page: 1, pageSize: 10, descending: true };
const placed = { ...page, after: { at: 5, id: "x" } };
const projectId = asId<ProjectId>("default");
const projectIds = [projectId];
const [pipelineId, runId, userId] = [newId("pl"), newId("run"), newId("usr")];
const time = { at: 1, _id: 1 } as const;
const newest = { "summary.createdAt": 1, _id: 1 } as const;
const deployed = { "deployment.projectId": 1, "deployment.environment": 1 } as const;
const begun = { "deployment.startedAt": 1, _id: 1, status: 1 } as const;
const requested = { "approval.requestedAt": 1, _id: 1 } as const;

const LISTS: readonly Row[] = [
  [
    "deployments to an environment",
    ({ deployments }) => deployments.list({ projectId, environment: "e", status: "success" }, { limit: 10 }),
    "job_runs",
    { ...deployed, ...begun },
  ],
  [
    "deployments of a pipeline to an environment",
    ({ deployments }) =>
      deployments.list({ projectId, environment: "e", pipelineId }, { limit: 10, after: { at: 5, id: "x" } }),
    "job_runs",
    { ...deployed, "deployment.pipelineId": 1, ...begun },
  ],
  [
    "flaky tests of a pipeline",
    ({ testHistories }) => testHistories.list(pipelineId, { order: "flaky", limit: 10 }),
    "test_histories",
    { pipelineId: 1, flaky: 1, testId: 1 },
  ],
  [
    "failing tests of a pipeline",
    ({ testHistories }) => testHistories.list(pipelineId, { order: "failing", limit: 10, after: { at: 5, id: "x" } }),
    "test_histories",
    { pipelineId: 1, failing: 1, testId: 1 },
  ],
  [
    "the slowest tests of a pipeline",
    ({ testHistories }) => testHistories.list(pipelineId, { order: "slowest", limit: 10, after: { at: 5, id: "x" } }),
    "test_histories",
    { pipelineId: 1, meanMs: 1, testId: 1 },
  ],
  [
    "runs of a pipeline",
    ({ aggregates }) => aggregates.listRuns({ pipelineId }, page),
    "aggregates",
    { "summary.pipelineId": 1, ...newest, "summary.status": 1 },
  ],
  [
    "runs of a pipeline with a status",
    ({ aggregates }) => aggregates.listRuns({ pipelineId, status: "failed" }, { ...placed, after: { at: 5, id: "x" } }),
    "aggregates",
    {
      "summary.pipelineId": 1,
      "summary.status": 1,
      ...newest,
    },
  ],
  [
    "pending approvals",
    ({ aggregates }) => aggregates.listApprovals({ status: "pending" }, placed),
    "approvals",
    {
      status: 1,
      ...requested,
      "approval.projectId": 1,
    },
  ],
  [
    "approvals of a pipeline",
    ({ aggregates }) => aggregates.listApprovals({ status: "pending", pipelineId }, placed),
    "approvals",
    {
      "approval.pipelineId": 1,
      status: 1,
      ...requested,
    },
  ],
  [
    "approvals of a project",
    ({ aggregates }) => aggregates.listApprovals({ status: "pending", projectId }, placed),
    "approvals",
    {
      "approval.projectId": 1,
      status: 1,
      ...requested,
    },
  ],
  [
    "approvals of some projects",
    ({ aggregates }) => aggregates.listApprovals({ status: "pending", projectIds }, placed),
    "approvals",
    {
      "approval.projectId": 1,
      status: 1,
      ...requested,
    },
  ],
  [
    "events of agents",
    ({ agentEvents }) => agentEvents.list(runId, placed),
    "agent_events",
    {
      owner: 1,
      receivedAt: 1,
      _id: 1,
    },
  ],
  ["artifacts", ({ artifacts }) => artifacts.ofRun(runId), "artifacts", { runId: 1, createdAt: 1, _id: 1 }],
  ["caches", ({ caches }) => caches.list(projectId, "npm", placed), "caches", { projectId: 1, usedAt: -1, _id: 1 }],
  [
    "dead letters",
    ({ deadLetters }) => deadLetters.list({ offset: 0, limit: 9, descending: true, after: { at: 5, id: "x" } }),
    "dead_letters",
    time,
  ],
  ...DELIVERY_LISTS,
  [
    "pipelines by time",
    ({ pipelines }) => pipelines.list({}, { ...placed, sort: "createdAt" }),
    "pipelines",
    {
      createdAt: 1,
      _id: 1,
    },
  ],
  [
    "pipelines by name",
    ({ pipelines }) => pipelines.list({ name: "web" }, { ...placed, after: { at: "a", id: "x" }, sort: "name" }),
    "pipelines",
    {
      name: 1,
      _id: 1,
    },
  ],
  [
    "pipelines of a project by time",
    ({ pipelines }) => pipelines.list({ projectId }, { ...placed, sort: "createdAt" }),
    "pipelines",
    {
      projectId: 1,
      createdAt: 1,
      _id: 1,
    },
  ],
  [
    "pipelines of some projects by name",
    ({ pipelines }) => pipelines.list({ projectIds }, { ...page, sort: "name" }),
    "pipelines",
    { projectId: 1, name: 1, _id: 1 },
  ],
  [
    "revisions",
    ({ pipelines }) => pipelines.listRevisions(pipelineId, null, 9),
    "revisions",
    {
      pipelineId: 1,
      _id: -1,
    },
  ],
  ["projects", ({ pipelines }) => pipelines.listProjects(), "projects", { _id: 1 }],
  [
    "secrets",
    ({ secrets }) => secrets.list({ projectId, pipelineId: null }, page),
    "secrets",
    {
      projectId: 1,
      pipelineId: 1,
      name: 1,
    },
  ],
  [
    "plugins of a project",
    ({ plugins }) => plugins.listOf(`project/${projectId}`, 9),
    "owned_plugins",
    { owner: 1, name: 1, createdAt: 1 },
  ],
  [
    "uploads",
    ({ uploads }) => uploads.list(projectId, 9, { at: 5, id: "x" }),
    "uploads",
    {
      projectId: 1,
      createdAt: 1,
      _id: 1,
    },
  ],
  ["tenants", ({ rights }) => rights.listTenants(), "tenants", { _id: 1 }],
  ["teams", ({ rights }) => rights.listTeams(DEFAULT_TENANT), "teams", { tenantId: 1, name: 1 }],
  ["members", ({ rights }) => rights.boundIn({ projectId }), "bindings", { area: 1, areaId: 1, subjectId: 1 }],
  ["users", ({ identity }) => identity.listUsers(), "users", { createdAt: 1, _id: 1 }],
  [
    "service accounts",
    ({ identity }) => identity.listOwnedBy({ projectId }),
    "users",
    {
      "body.ownedBy": 1,
      createdAt: 1,
    },
  ],
  [
    "tokens",
    ({ identity }) => identity.listTokens("personal", userId),
    "tokens",
    {
      kind: 1,
      subject: 1,
      createdAt: 1,
      _id: 1,
    },
  ],
  [
    "registration tokens",
    ({ identity }) => identity.listRegistrationTokens(),
    "tokens",
    {
      kind: 1,
      subject: 1,
      createdAt: 1,
      _id: 1,
    },
  ],
  ["agents", ({ identity }) => identity.listAgents(), "agents", { name: 1 }],
  ["sessions", ({ logins }) => logins.listSessions(userId), "sessions", { userId: 1, createdAt: 1, _id: 1 }],
  ["identities", ({ logins }) => logins.listIdentities(userId), "identities", { userId: 1, issuer: 1, subject: 1 }],
  ...(
    [
      [{}, time],
      [{ area: "tenants" }, time],
      [{ area: { tenantId: DEFAULT_TENANT } }, { tenantId: 1, ...time }],
      [{ projectId }, { projectId: 1, ...time }],
      [{ actorId: userId }, { actorId: 1, ...time }],
      [{ operation: "login" }, { operation: 1, ...time }],
      [{ objectId: runId }, { objectId: 1, ...time }],
      [{ outcome: "refused" }, { outcome: 1, ...time }],
    ] as const
  ).map(([filter, index]): Row => {
    const request = { after: { at: 5, id: "x" }, limit: 9, descending: true };
    return [`audit ${JSON.stringify(filter)}`, ({ audit }) => audit.page(filter as never, request), "audit", index];
  }),
];

describe("lists on MongoDB", function () {
  this.timeout(60_000);
  const isRealServer = process.env["MONGODB_TEST_URL"] !== undefined;
  const queries: Query[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its collection
  const find = Collection.prototype.find;
  let stores: Stores;
  let client: MongoClient;
  let indexesOf: (collection: string) => Promise<readonly string[]>;

  before(async () => {
    const { url } = await startTestMongo();
    const database = freshDatabase();
    stores = await openMongoStores({ url, database });
    client = new MongoClient(url);
    indexesOf = async (name) =>
      (await client.db(database).collection(name).indexes()).map(({ key }) => JSON.stringify(key));
    Collection.prototype.find = function (this: Collection, filter: Document = {}, options: Document = {}) {
      const cursor = find.call(this, filter, options) as FindCursor;
      const query: Query = {
        collection: this.collectionName,
        filter,
        sort: (options["sort"] as Document | undefined) ?? {},
        cursor,
      };
      const sort = cursor.sort.bind(cursor);
      cursor.sort = (order) => {
        query.sort = order as Document;
        return sort(order);
      };
      queries.push(query);
      return cursor;
    } as typeof find;
  });
  after(async () => {
    Collection.prototype.find = find;
    await client.close();
    await stores.close();
  });

  for (const [name, list, collection, index] of LISTS) {
    it(`of ${name} are read from an index`, async () => {
      queries.length = 0;
      await list(stores);
      const query = queries.find((one) => one.collection === collection);
      expect(query, "a query").not.to.equal(undefined);
      expect(await indexesOf(collection)).to.include(JSON.stringify(index));
      expect(problemOf(index, query!)).to.equal(undefined);
      if (isRealServer) await expectIndexed(query!.cursor);
    });
  }

  it("are all in this table", () => {
    const called = LISTS.map(([, list]) => String(list)).join("\n");
    for (const [port, store] of Object.entries(stores)) {
      for (const method of methodsOf(store as object).filter((name) => name.startsWith("list"))) {
        expect(called, `${port}.${method}`).to.include(`${port}.${method}(`);
      }
    }
  });
});

/** What the index lacks for the query; undefined for nothing. */
function problemOf(index: Index, { filter, sort }: Query): string | undefined {
  const equal = equalities(filter);
  const fields = Object.entries(index);
  const order = Object.entries(sort as Record<string, number>);
  let at = 0;
  while (at < fields.length && equal.has(fields[at]![0])) at++;
  const rest = fields.slice(at, at + order.length);
  if (order.length === 0) return at > 0 ? undefined : "no field of the index is asked for";
  const turn = order[0]![1] * (rest[0]?.[1] ?? 0);
  for (const [position, [field, direction]] of order.entries()) {
    const found = rest[position];
    // The id is the last field of each order; what is unique without it needs none.
    if (found === undefined && field === "_id" && position > 0) continue;
    if (found?.[0] !== field || direction * found[1] !== turn) return `${field} is not the next field of the order`;
  }
  return undefined;
}

/** The fields that a filter compares with one value or with some. */
function equalities(filter: Document): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [field, value] of Object.entries(filter) as [string, unknown][]) {
    if (field === "$and") for (const part of value as Document[]) for (const one of equalities(part)) found.add(one);
    else if (!field.startsWith("$") && isEquality(value)) found.add(field);
  }
  return found;
}

function isEquality(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const keys = Object.keys(value);
  return keys.includes("$in") || !keys.some((key) => key.startsWith("$"));
}

function methodsOf(store: object): readonly string[] {
  const own = Object.keys(store);
  const shared = Object.getOwnPropertyNames(Object.getPrototypeOf(store));
  return [...own, ...shared];
}

async function expectIndexed(cursor: FindCursor): Promise<void> {
  const { queryPlanner } = await cursor.clone().explain("queryPlanner");
  const stages = JSON.stringify((queryPlanner as Document)["winningPlan"]);
  expect(stages).to.include("IXSCAN");
  expect(stages).not.to.include("COLLSCAN");
  expect(stages).not.to.include('"stage":"SORT"');
}
