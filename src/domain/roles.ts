/** Roles of users in a tenant, the most powerful first. */
export const ROLES = ["owner", "admin", "maintainer", "operator", "viewer"] as const;
export type Role = (typeof ROLES)[number];
