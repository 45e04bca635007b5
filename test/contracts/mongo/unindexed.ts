/** The queries of the store on MongoDB that no index serves; each says why that does no harm. docs/operations.md has them too. */

export interface Unindexed {
  readonly collection: string;
  /** As queries.json has it. */
  readonly query: string;
  /** What is read, and why it is little or rare. */
  readonly reason: string;
}

export const UNINDEXED: readonly Unindexed[] = [
  {
    collection: "agent_events",
    query: "aggregate body.stepRunId~",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "agents",
    query: "find everything sort name",
    reason: "the list of all, which is what is asked for",
  },
  {
    collection: "aggregates",
    query: "find everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "approvals",
    query: "delete everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "artifacts",
    query: "aggregate stepRunId~",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "artifacts",
    query: "find stepRunId= sort createdAt, _id",
    reason: "the artifacts of the steps that a run takes over, sorted",
  },
  {
    collection: "bindings",
    query: "find subjectId= sort area, areaId",
    reason: "the roles of one user or team, sorted",
  },
  {
    collection: "caches",
    query: "aggregate state=",
    reason: "all entries, which `MILLRACE_CACHE_LIMIT` bounds, to find projects with too many",
  },
  {
    collection: "dead_letters",
    query: "aggregate everything",
    reason: "all of them, of which 10,000 are kept, to count them",
  },
  {
    collection: "inbox",
    query: "aggregate answered=",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "inbox",
    query: "find answered= rootId= sort seq, _id",
    reason: "the commands that wait for one run, sorted",
  },
  {
    collection: "job_runs",
    query: "delete everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "log_chunks",
    query: "aggregate stepRunId~",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "owned_plugins",
    query: "find name= owner= state= sort createdAt, packageId",
    reason: "the versions of one plugin, sorted",
  },
  {
    collection: "plugins",
    query: "find name= state= sort createdAt, packageId",
    reason: "the versions of one plugin, sorted",
  },
  {
    collection: "plugins",
    query: "distinct state=",
    reason: "all plugins of the installation, each of which an administrator has pushed, to name them",
  },
  {
    collection: "projects",
    query: "find _id= | body.tenantId= sort _id",
    reason: "the projects that a caller may see, sorted",
  },
  {
    collection: "projects",
    query: "find _id= | body.tenantId=? sort _id",
    reason: "the projects that a caller may see, sorted",
  },
  {
    collection: "projects",
    query: "find everything sort _id",
    reason: "the list of all, which is what is asked for",
  },
  {
    collection: "projects",
    query: "update body.tenantId~",
    reason: "all projects, once in an upgrade",
  },
  {
    collection: "removals",
    query: "find everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "shards",
    query: "find epoch<>",
    reason: "all shards of the mailboxes: 1,024 at most",
  },
  {
    collection: "shards",
    query: "update everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "step_notes",
    query: "aggregate stepRunId~",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "step_outputs",
    query: "aggregate stepRunId~",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "step_runs",
    query: "delete everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "team_members",
    query: "find teamId= sort userId",
    reason: "the members of one team, sorted",
  },
  {
    collection: "team_members",
    query: "find userId= sort teamId",
    reason: "the teams of one user, sorted",
  },
  {
    collection: "tenants",
    query: "find everything sort _id",
    reason: "the list of all, which is what is asked for",
  },
  {
    collection: "user_counts",
    query: "delete everything",
    reason: "all of them, by `millrace repair`, while no node runs",
  },
  {
    collection: "users",
    query: "find body.ownedBy= sort createdAt, _id",
    reason: "the service accounts of one project or tenant, sorted",
  },
  {
    collection: "users",
    query: "find everything sort createdAt, _id",
    reason: "the list of all, which is what is asked for",
  },
];

export function reasonFor(collection: string, query: string): string | undefined {
  return UNINDEXED.find((one) => one.collection === collection && one.query === query)?.reason;
}
