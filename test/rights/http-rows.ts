/** One row for each HTTP route: the operation that it needs, and a call that shows whether the caller may. */
import type { UserOperation } from "../../src/app/identity/access.ts";
import type { HttpRow } from "./http-row.ts";
import { OWNED_ROWS } from "./owned-rows.ts";
import { AGENT_ROWS } from "./agent-rows.ts";
import { LIST_ROWS } from "./list-rows.ts";
import { INVITATION_ROWS } from "./invitation-rows.ts";
import { LOG_ROWS } from "./log-rows.ts";
import { LIVE_ROWS } from "./live-rows.ts";
import { REPOSITORY_ROWS } from "./repository-rows.ts";
import { UPLOAD_ROWS } from "./upload-rows.ts";
import type { World } from "./world.ts";

let count = 0;
const unique = (): string => `n${++count}`;

const SPEC = { jobs: [{ name: "one", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };
const onPipeline = ({ pipelineId }: World) => ({ pipelineId });
const onSchedule = ({ scheduledPipelineId }: World) => ({ pipelineId: scheduledPipelineId, scheduleName: "leap" });
const onRevision = ({ pipelineId, revisionId }: World) => ({ pipelineId, revisionId });
const onProject = ({ projectId }: World) => ({ projectId });
const onRun = ({ runId }: World) => ({ runId });
const onPipelineRun = ({ pipelineId, runId }: World) => ({ pipelineId, runId });
const onStep = ({ pipelineId, runId, stepRunId }: World) => ({ pipelineId, runId, stepRunId });
const onUser = ({ victim }: World) => ({ userId: victim });
const me = () => ({ userId: "me" });
const nothing = () => ({});

const projectSetting = (name: string, read: UserOperation, write: UserOperation): readonly HttpRow[] => [
  { route: `GET /projects/:projectId/${name}`, operation: read, at: onProject },
  { route: `PUT /projects/:projectId/${name}`, operation: write, at: onProject, body: nothing },
];

const secrets = (path: string, at: HttpRow["at"] & {}): readonly HttpRow[] => [
  {
    route: `POST ${path}`,
    operation: "manageSecrets",
    at,
    body: () => ({ name: `S_${unique()}`, value: "a long value" }),
  },
  { route: `GET ${path}`, operation: "manageSecrets", at },
  {
    route: `GET ${path}/:name`,
    operation: "manageSecrets",
    at: (world) => ({ ...at(world), name: "KEPT" }),
    prepare: (world) => world.keepSecrets(),
  },
  {
    route: `PUT ${path}/:name`,
    operation: "manageSecrets",
    at: (world) => ({ ...at(world), name: "KEPT" }),
    body: () => ({ value: "another value" }),
  },
  {
    route: `DELETE ${path}/:name`,
    operation: "manageSecrets",
    at: (world) => ({ ...at(world), name: "GONE" }),
    prepare: (world) => world.keepSecrets(),
  },
];

const AREAS = { tenants: "manageTenantMembers", projects: "manageProjectMembers" } as const;

/** Members and service accounts, which tenants and projects have alike. */
const areas = (path: keyof typeof AREAS, read: UserOperation, at: HttpRow["at"] & {}): readonly HttpRow[] => {
  const prefix = `/${path}/:${path.slice(0, -1)}Id`;
  const operation = AREAS[path];
  const onAccount = (world: World) => ({ ...at(world), userId: path === "tenants" ? world.tenantBot : world.bot });
  return [
    { route: `GET ${prefix}/members`, operation: read, at },
    {
      route: `GET ${prefix}/members/:member`,
      operation: read,
      at: (world) => ({ ...at(world), member: world.victim }),
      prepare: (world) => world.keepMembers(),
    },
    {
      route: `PUT ${prefix}/members/:member`,
      operation,
      at: (world) => ({ ...at(world), member: world.victim }),
      body: () => ({ role: "viewer" }),
    },
    {
      route: `DELETE ${prefix}/members/:member`,
      operation,
      at: (world) => ({ ...at(world), member: world.victim }),
      prepare: (world) => world.keepMembers(),
    },
    { route: `POST ${prefix}/service-accounts`, operation, at, body: () => ({ name: unique() }) },
    { route: `GET ${prefix}/service-accounts`, operation, at },
    {
      route: `DELETE ${prefix}/service-accounts/:userId`,
      operation,
      at: onAccount,
      prepare: (world) => world.keepBots(),
    },
    {
      route: `POST ${prefix}/service-accounts/:userId/tokens`,
      operation,
      at: onAccount,
      body: () => ({ name: "t" }),
      prepare: (world) => world.keepBots(),
    },
    {
      route: `GET ${prefix}/service-accounts/:userId/tokens`,
      operation,
      at: onAccount,
      prepare: (world) => world.keepBots(),
    },
    {
      route: `DELETE ${prefix}/service-accounts/:userId/tokens/:tokenId`,
      operation,
      at: (world) => ({ ...onAccount(world), tokenId: path === "tenants" ? world.tenantBotToken : world.botToken }),
      prepare: (world) => world.keepBots(),
    },
  ];
};

const onTenant = ({ tenantId }: World) => ({ tenantId });
const onTeam = ({ tenantId, teamId }: World) => ({ tenantId, teamId });

export const HTTP_ROWS: readonly HttpRow[] = [
  { route: "POST /auth/login", operation: "open", body: () => ({ name: "unknown", password: "x" }) },
  { route: "POST /auth/refresh", operation: "open", body: () => ({ refreshToken: "x" }) },
  { route: "POST /auth/device/code", operation: "open", body: nothing },
  { route: "POST /auth/device/token", operation: "open", body: nothing },
  { route: "POST /auth/logout", operation: "readOwnAccount", body: nothing },
  { route: "POST /auth/tickets", operation: "readOwnAccount", body: nothing },
  { route: "GET /users/:userId/sessions", operation: "manageUsers", at: onUser },
  {
    route: "DELETE /users/:userId/sessions/:sessionId",
    operation: "manageUsers",
    at: (world) => ({ ...onUser(world), sessionId: "none" }),
    kind: "absent",
  },
  { route: "POST /users/:userId/reset-link", operation: "manageUsers", at: onUser, body: nothing },
  ...INVITATION_ROWS,
  { route: "GET /openapi.json", operation: "open" },
  { route: "GET /definitions/schema", operation: "open" },
  { route: "GET /docs", operation: "open" },
  { route: "GET /ws", operation: "anybody" },
  ...LIVE_ROWS,

  { route: "POST /id-token", operation: "job", body: nothing },
  { route: "GET /whoami", operation: "readOwnAccount" },
  { route: "GET /roles", operation: "readOwnAccount" },
  { route: "GET /me/notifications", operation: "readOwnAccount" },
  { route: "PUT /me/notifications", operation: "manageOwnNotifications", body: () => ({ choices: [] }) },
  { route: "POST /users", operation: "manageUsers", body: () => ({ name: unique(), role: "viewer" }) },
  { route: "GET /users", operation: "manageUsers" },
  { route: "GET /users/:userId", operation: "manageUsers", at: onUser },
  { route: "GET /users/:userId", operation: "readOwnAccount", at: me },
  { route: "PATCH /users/:userId", operation: "manageUsers", at: onUser, body: () => ({ disabled: false }) },
  {
    route: "DELETE /users/:userId",
    operation: "manageUsers",
    at: ({ removable }) => ({ userId: removable }),
    prepare: (world) => world.keepRemovable(),
  },
  {
    route: "PUT /users/:userId/password",
    operation: "manageUsers",
    at: onUser,
    body: () => ({ password: "a new password" }),
  },
  { route: "DELETE /users/:userId/logins", operation: "manageUsers", at: onUser },
  { route: "DELETE /users/:userId/logins", operation: "manageOwnAccount", at: me },
  { route: "POST /users/:userId/tokens", operation: "manageOthersTokens", at: onUser, body: () => ({ name: "t" }) },
  { route: "POST /users/:userId/tokens", operation: "manageOwnTokens", at: me, body: () => ({ name: "t" }) },
  { route: "GET /users/:userId/tokens", operation: "manageOthersTokens", at: onUser },
  { route: "GET /users/:userId/tokens", operation: "manageOwnTokens", at: me },
  {
    route: "DELETE /users/:userId/tokens/:tokenId",
    operation: "manageOthersTokens",
    at: ({ victim }) => ({ userId: victim, tokenId: "tok_none" }),
    kind: "absent",
  },

  ...AGENT_ROWS,

  { route: "GET /audit", operation: "readAudit", kind: "filtered" },
  { route: "GET /audit/export", operation: "readAudit", kind: "filtered" },
  { route: "GET /cluster", operation: "readCluster" },
  { route: "GET /cluster/dead-letters", operation: "readCluster" },
  {
    route: "POST /cluster/dead-letters/:id/redrive",
    operation: "redriveDeadLetters",
    at: () => ({ id: "none" }),
    kind: "absent",
  },

  { route: "POST /plugins", operation: "managePlugins", body: nothing },
  { route: "GET /plugins", operation: "readPlugins" },
  { route: "GET /plugins/*name", operation: "readPlugins", at: () => ({ name: "none" }), kind: "absent" },
  {
    route: "GET /plugins/*name/versions/:version",
    operation: "readPlugins",
    at: () => ({ name: "none", version: "1.0.0" }),
    kind: "absent",
  },
  {
    route: "DELETE /plugins/*name/versions/:version",
    operation: "managePlugins",
    at: () => ({ name: "none", version: "1.0.0" }),
    kind: "absent",
  },

  { route: "POST /tenants", operation: "createTenants", body: () => ({ name: unique() }) },
  { route: "GET /tenants", operation: "readTenants", kind: "list" },
  { route: "GET /tenants/:tenantId", operation: "readTenants", at: onTenant },
  {
    route: "PATCH /tenants/:tenantId",
    operation: "manageTenants",
    at: onTenant,
    body: () => ({ archived: false }),
  },
  {
    route: "DELETE /tenants/:tenantId",
    operation: "deleteTenants",
    at: onTenant,
    prepare: (world) => world.keepTenant(),
  },
  {
    route: "POST /tenants/:tenantId/teams",
    operation: "manageTeams",
    at: onTenant,
    body: () => ({ name: unique() }),
    prepare: (world) => world.keepTenant(),
  },
  { route: "GET /tenants/:tenantId/teams", operation: "readTenants", at: onTenant },
  { route: "GET /tenants/:tenantId/teams/:teamId", operation: "readTenants", at: onTeam },
  {
    route: "PATCH /tenants/:tenantId/teams/:teamId",
    operation: "manageTeams",
    at: onTeam,
    body: () => ({ name: unique() }),
  },
  {
    route: "DELETE /tenants/:tenantId/teams/:teamId",
    operation: "manageTeams",
    at: onTeam,
    prepare: (world) => world.keepTeam(),
  },
  {
    route: "PUT /tenants/:tenantId/teams/:teamId/members/:member",
    operation: "manageTeams",
    at: (world) => ({ ...onTeam(world), member: world.victim }),
    prepare: (world) => world.keepTeam(),
  },
  {
    route: "DELETE /tenants/:tenantId/teams/:teamId/members/:member",
    operation: "manageTeams",
    at: (world) => ({ ...onTeam(world), member: world.victim }),
    prepare: (world) => world.keepTeam(),
  },
  ...areas("tenants", "readTenants", onTenant),
  ...areas("projects", "readProjects", onProject),
  {
    route: "POST /projects",
    operation: "createProjects",
    body: ({ tenantId }) => ({ name: unique(), tenantId }),
    kind: "inBody",
  },
  { route: "GET /projects", operation: "readProjects", kind: "list" },
  { route: "GET /projects/:projectId", operation: "readProjects", at: onProject },
  {
    route: "PATCH /projects/:projectId",
    operation: "manageProjects",
    at: onProject,
    body: () => ({ description: "d" }),
  },
  // A run is live in it, so that it stays.
  { route: "DELETE /projects/:projectId", operation: "deleteProjects", at: onProject },
  ...projectSetting("retention", "readRetention", "writeRetention"),
  ...projectSetting("log-limit", "readLogLimit", "writeLogLimit"),
  ...projectSetting("trust-demand", "readTrustDemand", "writeTrustDemand"),
  ...OWNED_ROWS,
  ...UPLOAD_ROWS,
  ...secrets("/projects/:projectId/secrets", onProject),
  ...secrets("/pipelines/:pipelineId/secrets", onPipeline),

  {
    route: "POST /pipelines",
    operation: "writePipelines",
    body: ({ projectId }) => ({ name: unique(), projectId }),
    kind: "inBody",
  },
  { route: "GET /pipelines", operation: "readPipelines", kind: "list" },
  { route: "GET /pipelines/:pipelineId", operation: "readPipelines", at: onPipeline },
  {
    route: "PUT /pipelines/:pipelineId",
    operation: "writePipelines",
    at: onPipeline,
    body: () => ({ description: "d" }),
  },
  {
    route: "DELETE /pipelines/:pipelineId",
    operation: "writePipelines",
    at: ({ removablePipeline }) => ({ pipelineId: removablePipeline }),
    prepare: (world) => world.keepPipeline(),
  },
  { route: "GET /pipelines/:pipelineId/spec", operation: "readPipelines", at: onPipeline },
  {
    route: "POST /pipelines/:pipelineId/spec/validate",
    operation: "validateDefinition",
    at: onPipeline,
    body: () => ({ spec: SPEC }),
  },
  {
    route: "POST /pipelines/:pipelineId/spec/save",
    operation: "writeDefinitions",
    at: onPipeline,
    body: () => ({ spec: SPEC }),
  },
  {
    route: "POST /pipelines/:pipelineId/spec/move",
    operation: "writeDefinitions",
    at: onPipeline,
    body: () => ({ to: "git", repoUrl: "https://127.0.0.1/x.git" }),
  },
  ...REPOSITORY_ROWS,
  { route: "GET /pipelines/:pipelineId/revisions", operation: "readPipelines", at: onPipeline },
  ...["", "/diff"].map((rest): HttpRow => ({
    route: `GET /pipelines/:pipelineId/revisions/:revisionId${rest}`,
    operation: "readPipelines",
    at: onRevision,
  })),
  {
    route: "POST /pipelines/:pipelineId/revisions/:revisionId/restore",
    operation: "writeDefinitions",
    at: onRevision,
    body: nothing,
  },
  { route: "POST /pipelines/:pipelineId/plan", operation: "validateDefinition", at: onPipeline, body: nothing },
  { route: "POST /pipelines/:pipelineId/trigger", operation: "triggerRun", at: onPipeline, body: nothing },

  { route: "GET /pipelines/:pipelineId/schedules", operation: "readPipelines", at: onPipeline },
  { route: "GET /pipelines/:pipelineId/schedules/:scheduleName", operation: "readPipelines", at: onSchedule },
  ...["pause", "resume"].map((word) => ({
    route: `POST /pipelines/:pipelineId/schedules/:scheduleName/${word}`,
    operation: "controlSchedules" as const,
    at: onSchedule,
    body: nothing,
  })),

  { route: "GET /pipelines/:pipelineId/statistics", operation: "readRuns", at: onPipeline },
  { route: "GET /pipelines/:pipelineId/tests", operation: "readLogs", at: onPipeline },
  ...LIST_ROWS,
  { route: "GET /pipelines/:pipelineId/runs", operation: "readRuns", at: onPipeline },
  { route: "GET /pipelines/runs/:runId", operation: "readRuns", at: onRun },
  { route: "GET /pipelines/:pipelineId/runs/:runId", operation: "readRuns", at: onPipelineRun },
  ...LOG_ROWS,
  { route: "GET /pipelines/runs/:runId/timeline", operation: "readRuns", at: onRun },
  { route: "GET /pipelines/runs/:runId/agent-events", operation: "readEvents", at: onRun },
  { route: "GET /pipelines/runs/:runId/outputs", operation: "readRuns", at: onRun },
  {
    route: "POST /pipelines/:pipelineId/runs/:runId/rerun",
    operation: "triggerRun",
    at: onPipelineRun,
    body: () => ({ scope: "all" }),
  },
  {
    route: "POST /pipelines/:pipelineId/runs/:runId/jobs/:jobId/cancel",
    operation: "controlRun",
    at: ({ pipelineId, runId, jobId }) => ({ pipelineId, runId, jobId }),
    body: nothing,
  },
  { route: "GET /pipelines/:pipelineId/runs/:runId/steps/:stepRunId", operation: "readRuns", at: onStep },
  ...(
    [
      ["PATCH /pipelines/:pipelineId/runs/:runId/steps/:stepRunId", "updateStepRuns"],
      ["POST /pipelines/:pipelineId/runs/:runId/steps/:stepRunId/cancel", "controlRun"],
    ] as const
  ).map(([route, operation]) => ({ route, operation, at: onStep, body: nothing })),
  ...["stop", "pause", "resume"].map((word) => ({
    route: `POST /pipelines/:pipelineId/runs/:runId/${word}`,
    operation: "controlRun" as const,
    at: onPipelineRun,
    body: nothing,
  })),

  { route: "GET /pipelines/runs/:runId/approvals", operation: "readApprovals", at: onRun },
  ...["approve", "reject"].map((word) => ({
    route: `POST /pipelines/:pipelineId/runs/:runId/approvals/:approvalId/${word}`,
    operation: "decideApprovals" as const,
    at: ({ gatedPipelineId, gatedRunId, approvalId }: World) => ({
      pipelineId: gatedPipelineId,
      runId: gatedRunId,
      approvalId,
    }),
    body: nothing,
  })),

  { route: "GET /pipelines/runs/:runId/artifacts", operation: "readArtifacts", at: onRun },
  {
    route: "GET /pipelines/runs/:runId/artifacts/:artifactId",
    operation: "readArtifacts",
    at: ({ runId, artifactId }) => ({ runId, artifactId }),
    prepare: (world) => world.keepArtifact(),
  },
  {
    route: "GET /pipelines/runs/:runId/artifacts/:artifactId/content{/*path}",
    operation: "readArtifacts",
    at: ({ runId, artifactId }) => ({ runId, artifactId }),
    prepare: (world) => world.keepArtifact(),
  },
  {
    route: "DELETE /pipelines/runs/:runId/artifacts/:artifactId",
    operation: "deleteArtifacts",
    at: ({ runId, artifactId }) => ({ runId, artifactId }),
    prepare: (world) => world.keepArtifact(),
  },
];
