/** The rows of invitations. */
import type { HttpRow } from "./http-row.ts";

let count = 0;
const unique = (): string => `invited-${++count}`;
const nothing = () => ({});

export const INVITATION_ROWS: readonly HttpRow[] = [
  { route: "POST /invitations", operation: "manageUsers", body: () => ({ name: unique(), role: "viewer" }) },
  {
    route: "POST /invitations",
    operation: "manageTenantMembers",
    body: ({ tenantId }) => ({ name: unique(), bound: [{ area: { tenantId }, role: "viewer" }] }),
    kind: "inBody",
  },
  {
    route: "POST /invitations",
    operation: "manageProjectMembers",
    body: ({ projectId }) => ({ name: unique(), bound: [{ area: { projectId }, role: "viewer" }] }),
    kind: "inBody",
  },
  {
    route: "POST /invitations",
    operation: "manageTeams",
    body: ({ teamId }) => ({ name: unique(), teams: [teamId] }),
    kind: "inBody",
  },
  {
    route: "POST /invitations/:user/link",
    operation: "manageTenantMembers",
    at: ({ invited }) => ({ user: invited }),
    body: nothing,
    prepare: (world) => world.keepInvited(),
  },
  {
    route: "POST /invitations/:user/link",
    operation: "manageProjectMembers",
    at: ({ projectInvited }) => ({ user: projectInvited }),
    body: nothing,
    prepare: (world) => world.keepInvited(),
  },
];
