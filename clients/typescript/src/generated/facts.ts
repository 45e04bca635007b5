// Made from docs/openapi.json by `npm run generate`. Do not edit.

/** Paths whose POST takes an `Idempotency-Key`. */
export const IDEMPOTENT_POSTS: ReadonlySet<string> = new Set([
  "/users",
  "/users/{userId}/tokens",
  "/agents/registration-tokens",
  "/pipelines/{pipelineId}/runs/{runId}/rerun",
  "/pipelines/{pipelineId}/runs/{runId}/jobs/{jobId}/cancel",
  "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/cancel",
  "/pipelines/{pipelineId}/runs/{runId}/stop",
  "/pipelines/{pipelineId}/runs/{runId}/pause",
  "/pipelines/{pipelineId}/runs/{runId}/resume",
  "/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/approve",
  "/pipelines/{pipelineId}/runs/{runId}/approvals/{approvalId}/reject",
  "/projects/{projectId}/uploads",
  "/projects/{projectId}/uploads/form",
  "/pipelines",
  "/pipelines/{pipelineId}/spec/save",
  "/pipelines/{pipelineId}/trigger",
  "/projects/{projectId}/repository/pipelines",
  "/pipelines/{pipelineId}/revisions/{revisionId}/restore",
  "/pipelines/{pipelineId}/schedules/{scheduleName}/pause",
  "/pipelines/{pipelineId}/schedules/{scheduleName}/resume",
  "/projects/{projectId}/secrets",
  "/pipelines/{pipelineId}/secrets",
  "/tenants/{tenantId}/webhooks",
  "/projects/{projectId}/webhooks",
  "/projects/{projectId}/hooks",
  "/projects",
  "/tenants",
  "/tenants/{tenantId}/teams",
  "/tenants/{tenantId}/service-accounts",
  "/tenants/{tenantId}/service-accounts/{userId}/tokens",
  "/projects/{projectId}/service-accounts",
  "/projects/{projectId}/service-accounts/{userId}/tokens",
  "/invitations",
]);

/** A path and its parameter that may contain slashes. */
export const SLASHED_PARAMETERS: ReadonlySet<string> = new Set([
  "/pipelines/runs/{runId}/artifacts/{artifactId}/content/{path} path",
  "/plugins/{name}/versions/{version} name",
  "/plugins/{name} name",
  "/tenants/{tenantId}/plugins/{name}/versions/{version} name",
  "/tenants/{tenantId}/plugins/{name} name",
  "/projects/{projectId}/plugins/{name}/versions/{version} name",
  "/projects/{projectId}/plugins/{name} name",
]);
