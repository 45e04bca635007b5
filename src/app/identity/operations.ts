/**
 * The one table of what users may do: operation x role x area x width of a token. The checks, the pages of the docs and
 * the test of all operations are made from it. Pure.
 */
import { type Role, roleReaches } from "../../domain/roles.ts";

/** The scope that lets a caller name another user in `createdBy`, `editor`, `triggeredBy` and `operator`. */
export const ACT_AS = "act-as";
/**
 * What a token may be narrowed to, the widest first; each contains the ones behind it. A token without one of these is
 * as powerful as its user's role.
 */
export const WIDTHS = ["admin", "write", "trigger", "read"] as const;
export type Width = (typeof WIDTHS)[number];
export const SCOPES = [ACT_AS, ...WIDTHS] as const;

/**
 * Where the role of an operation counts.
 *
 * - `own`: what belongs to the caller: every user may call it, also one without a role.
 * - `anywhere`: a role in the installation, or in any tenant or project.
 * - `project`, `tenant`: the highest of the roles in the installation, in the tenant and in the project of the object.
 * - `installation`: only the role in the installation.
 */
export type Reach = "own" | "anywhere" | "project" | "tenant" | "installation";

export interface OperationRule {
  /** The lowest role that may call it. */
  readonly role: Role;
  readonly reach: Reach;
  /** The narrowest scope of a token that may call it. */
  readonly width: Width;
}

const WIDTH_OF_ROLE: Readonly<Record<Role, Width>> = {
  viewer: "read",
  operator: "trigger",
  maintainer: "write",
  admin: "admin",
  owner: "admin",
};

/** Without `width`, the width follows from the role. */
function rule<const R extends Reach>(reach: R, role: Role, width: Width = WIDTH_OF_ROLE[role]) {
  return { reach, role, width };
}

export const USER_OPERATIONS = {
  readPipelines: rule("project", "viewer"),
  validateDefinition: rule("project", "viewer"),
  readRuns: rule("project", "viewer"),
  readLogs: rule("project", "viewer"),
  readArtifacts: rule("project", "viewer"),
  readCaches: rule("project", "viewer"),
  readUploads: rule("project", "viewer"),
  readEvents: rule("project", "viewer"),
  readApprovals: rule("project", "viewer"),
  readPlugins: rule("anywhere", "viewer"),
  /** Agents of the installation only with a role in the installation. */
  readAgents: rule("project", "viewer"),
  readProjects: rule("project", "viewer"),
  // A narrowed token that could make tokens could make wider ones.
  manageOwnTokens: rule("own", "viewer", "admin"),
  readOwnAccount: rule("own", "viewer"),
  /** What the caller is told of by e-mail. */
  manageOwnNotifications: rule("own", "viewer", "write"),
  /** The caller's own password and logins. */
  manageOwnAccount: rule("own", "viewer", "admin"),
  /** Each approval bounds further who may decide it: `authoriseVote`. */
  decideApprovals: rule("project", "viewer", "trigger"),
  triggerRun: rule("project", "operator"),
  /** A caller that may trigger runs may send the files for them. */
  writeUploads: rule("project", "operator"),
  controlRun: rule("project", "operator"),
  /** A caller that may trigger runs may pause what triggers them by itself. */
  controlSchedules: rule("project", "operator"),
  /** An ad-hoc step runs what no definition says, so it needs the role that saves definitions. */
  runAdHocSteps: rule("project", "maintainer"),
  /** A priority decides also about the jobs of other runs and projects. */
  updateStepRuns: rule("project", "maintainer"),
  deleteArtifacts: rule("project", "maintainer"),
  deleteCaches: rule("project", "maintainer"),
  deleteUploads: rule("project", "maintainer"),
  writePipelines: rule("project", "maintainer"),
  writeDefinitions: rule("project", "maintainer"),
  readVariables: rule("project", "viewer"),
  writeVariables: rule("project", "maintainer"),
  readTenantVariables: rule("tenant", "viewer"),
  writeTenantVariables: rule("tenant", "maintainer"),
  manageSecrets: rule("project", "maintainer", "admin"),
  /** Who may choose a receiver of events may let others read them. */
  manageWebhooks: rule("project", "maintainer"),
  manageTenantWebhooks: rule("tenant", "admin"),
  /** Deliveries start runs, and their bodies may tell what not every viewer may read at the sender. */
  manageHooks: rule("project", "maintainer"),
  managePlugins: rule("installation", "admin"),
  readTenantPlugins: rule("tenant", "viewer"),
  /** Such a plugin runs in all projects of the tenant. */
  manageTenantPlugins: rule("tenant", "admin"),
  readProjectPlugins: rule("project", "viewer"),
  /** A plugin does no more than a definition of the project can. */
  manageProjectPlugins: rule("project", "maintainer"),
  manageUsers: rule("installation", "admin"),
  manageOthersTokens: rule("installation", "admin"),
  /** Agents of the installation only with a role in the installation. */
  manageAgents: rule("tenant", "admin"),
  createTenants: rule("installation", "admin"),
  readTenants: rule("tenant", "viewer"),
  manageTenants: rule("tenant", "admin"),
  deleteTenants: rule("tenant", "owner"),
  /** Members and service accounts. */
  manageTenantMembers: rule("tenant", "admin"),
  manageProjectMembers: rule("project", "admin"),
  manageTeams: rule("tenant", "admin"),
  createProjects: rule("tenant", "admin"),
  manageProjects: rule("project", "admin"),
  deleteProjects: rule("project", "owner"),
  /** What belongs to no tenant is only for owners: {@link readInstallationAudit}. */
  readAudit: rule("project", "admin", "read"),
  readInstallationAudit: rule("installation", "owner", "read"),
  /** Those of agents, definitions, projects, variables and plugins; the others are for administrators. */
  readSystemEvents: rule("tenant", "viewer"),
  readAllSystemEvents: rule("tenant", "admin", "read"),
  readInstallationEvents: rule("installation", "admin", "read"),
  readCluster: rule("installation", "admin", "read"),
  readRetention: rule("project", "admin", "read"),
  writeRetention: rule("project", "admin"),
  readLogLimit: rule("project", "admin", "read"),
  writeLogLimit: rule("project", "admin"),
  readTrustDemand: rule("project", "admin", "read"),
  writeTrustDemand: rule("project", "admin"),
  readSettings: rule("project", "admin", "read"),
  writeSettings: rule("project", "admin"),
  readTenantSettings: rule("tenant", "admin", "read"),
  writeTenantSettings: rule("tenant", "admin"),
  readInstallationSettings: rule("installation", "admin", "read"),
  writeInstallationSettings: rule("installation", "admin"),
  redriveDeadLetters: rule("installation", "admin"),
} as const satisfies Record<string, OperationRule>;

export type UserOperation = keyof typeof USER_OPERATIONS;
/** The operations whose role counts there. */
export type OperationOf<R extends Reach> = {
  [Operation in UserOperation]: (typeof USER_OPERATIONS)[Operation]["reach"] extends R ? Operation : never;
}[UserOperation];

export const OPERATIONS = Object.keys(USER_OPERATIONS) as readonly UserOperation[];

/** The operations that a caller with this role and these scopes may call, in the order of the table. */
export function operationsOf({
  role,
  scopes,
}: {
  readonly role: Role | null;
  readonly scopes: readonly string[];
}): readonly UserOperation[] {
  return OPERATIONS.filter((one) => {
    const { reach, role: needed } = USER_OPERATIONS[one];
    return (reach === "own" || roleReaches(role, needed)) && isWideEnough(scopes, widthOf(one));
  });
}

/** Of the operations of {@link operationsOf}, those whose role counts in one of these places. */
export function operationsIn(
  places: readonly Reach[],
  caller: { readonly role: Role | null; readonly scopes: readonly string[] },
): readonly UserOperation[] {
  return operationsOf(caller).filter((one) => places.includes(USER_OPERATIONS[one].reach));
}

/** The narrowest scope with which a token may call the operation. */
export function widthOf(operation: UserOperation): Width {
  return USER_OPERATIONS[operation].width;
}

/** True when a token with `scopes` may do what needs `width`: without a width among them it may do everything. */
export function isWideEnough(scopes: readonly string[], width: Width): boolean {
  const found = WIDTHS.findIndex((one) => scopes.includes(one));
  return found <= WIDTHS.indexOf(width);
}
