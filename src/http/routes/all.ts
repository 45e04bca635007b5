/** All routes below `/api/v1` that need a token, in the order in which they are tried. */
import type { ClusterContext } from "../../app/upkeep/cluster.ts";
import { AGENT_ROUTES } from "./agent-routes.ts";
import { APPROVAL_ROUTES } from "./approval-routes.ts";
import { ARTIFACT_ROUTES } from "./artifact-routes.ts";
import { HOOK_ROUTES } from "./hook-routes.ts";
import { AUDIT_ROUTES } from "./audit-routes.ts";
import { CACHE_ROUTES } from "./cache-routes.ts";
import { CLUSTER_ROUTES } from "./cluster-routes.ts";
import { IDENTITY_ROUTES } from "./identity-routes.ts";
import { ID_TOKEN_ROUTES } from "./id-token-routes.ts";
import { LOG_LIMIT_ROUTES } from "./log-limit-routes.ts";
import { LOG_ROUTES } from "./log-routes.ts";
import { NOTE_ROUTES } from "./note-routes.ts";
import { NOTIFICATION_ROUTES } from "./notification-routes.ts";
import { PIPELINE_ROUTES } from "./pipeline-routes.ts";
import { PLUGIN_ROUTES } from "./plugin-routes.ts";
import { PROJECT_ROUTES } from "./project-routes.ts";
import { REPOSITORY_ROUTES } from "./repository-routes.ts";
import { REVISION_ROUTES } from "./revision-routes.ts";
import { RETENTION_ROUTES } from "./retention-routes.ts";
import type { Route } from "../route.ts";
import { RIGHTS_ROUTES } from "./rights-routes.ts";
import { RUN_ROUTES } from "./run-routes.ts";
import { SCHEDULE_ROUTES } from "./schedule-routes.ts";
import { SECRET_ROUTES } from "./secret-routes.ts";
import { SETTING_ROUTES } from "./setting-routes.ts";
import { TRUST_DEMAND_ROUTES } from "./trust-demand-routes.ts";
import { VARIABLE_ROUTES } from "./variable-routes.ts";
import { SYSTEM_EVENT_ROUTES } from "./system-event-routes.ts";
import { UPLOAD_ROUTES } from "./upload-routes.ts";
import { WEBHOOK_ROUTES } from "./webhook-routes.ts";
import { WEB_SOCKET_ROUTES } from "./web-socket-routes.ts";

export const API_ROUTES: readonly Route<ClusterContext>[] = [
  ...IDENTITY_ROUTES,
  ...ID_TOKEN_ROUTES,
  ...AGENT_ROUTES,
  ...RUN_ROUTES,
  ...LOG_ROUTES,
  ...NOTE_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...APPROVAL_ROUTES,
  ...ARTIFACT_ROUTES,
  ...CACHE_ROUTES,
  ...UPLOAD_ROUTES,
  ...PIPELINE_ROUTES,
  ...REPOSITORY_ROUTES,
  ...REVISION_ROUTES,
  ...SCHEDULE_ROUTES,
  ...SECRET_ROUTES,
  ...VARIABLE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...HOOK_ROUTES,
  ...PLUGIN_ROUTES,
  ...CLUSTER_ROUTES,
  ...AUDIT_ROUTES,
  ...SYSTEM_EVENT_ROUTES,
  ...PROJECT_ROUTES,
  ...RIGHTS_ROUTES,
  ...RETENTION_ROUTES,
  ...LOG_LIMIT_ROUTES,
  ...TRUST_DEMAND_ROUTES,
  ...SETTING_ROUTES,
  ...WEB_SOCKET_ROUTES,
];
